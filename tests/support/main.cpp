// SPDX-License-Identifier: Apache-2.0
// What every test program starts with. A program that skipped all of its cases ends with 77, which
// ctest calls skipped (cmake/room.cmake): GoogleTest's own ends with 0, as if all had passed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  constexpr int kSkipped = 77;
  if (failed == 0 && all.skipped_test_count() > 0 && all.successful_test_count() == 0)
    return kSkipped;
  return failed;
}
