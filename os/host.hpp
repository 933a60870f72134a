// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lldp {

/// gethostname(2); empty if there is none.
[[nodiscard]] std::string host_name();

/// Which start of the machine this is: what the kernel keeps is of one.
[[nodiscard]] Result<std::string> boot_id();

/// The distribution and the kernel, as lldpd says them: `Debian GNU/Linux 12 (bookworm) Linux 6.1.0
/// #1 SMP ... x86_64`. At most 255 octets. `os_release`: text of os-release(5), may be empty.
[[nodiscard]] std::string system_description(std::string_view os_release);
/// By this machine's own file.
[[nodiscard]] std::string system_description();

}  // namespace lldp
