// SPDX-License-Identifier: Apache-2.0
#pragma once

/// libsai's interface: by the headers of its release where the build was given them.
extern "C" {
#ifdef LLDP_SAI_HEADERS
#include <sai.h>
#else
#include "dataplane/sai/abi.h"
#endif
}
