// SPDX-License-Identifier: Apache-2.0
// What the precompiled headers are compiled for.
