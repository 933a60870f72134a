// SPDX-License-Identifier: Apache-2.0
// What the precompiled header of the tests is compiled for.
