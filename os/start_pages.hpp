// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lldp::io {

/// What a start reads of the program and its libraries, and a daemon at rest never again, is a
/// third of its resident memory: lets the kernel map anew what is still wanted. Nothing is lost,
/// pages that were written are not touched.
void release_start_pages();

}  // namespace lldp::io
