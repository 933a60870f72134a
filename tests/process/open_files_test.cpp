// SPDX-License-Identifier: Apache-2.0
#include "agent/process/open_files.hpp"

#include <gtest/gtest.h>

namespace lldp::io {
namespace {

TEST(OpenFiles, LimitThatIsTooLowIsRaisedAsFarAsItMayBe) {
  EXPECT_EQ(open_files_for({24, 4096})->rlim_cur, kUsualOpenFiles);
  EXPECT_EQ(open_files_for({24, 100})->rlim_cur, 100U);
  EXPECT_EQ(open_files_for({24, RLIM_INFINITY})->rlim_cur, kUsualOpenFiles);
}

TEST(OpenFiles, LimitThatIsEnoughStays) {
  EXPECT_EQ(open_files_for({64, 4096})->rlim_cur, 64U);
  EXPECT_EQ(open_files_for({RLIM_INFINITY, RLIM_INFINITY})->rlim_cur, RLIM_INFINITY);
}

TEST(OpenFiles, LimitThatCannotBeRaisedIsNamed) {
  const auto refused = open_files_for({24, 24});
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()),
            "open files: the limit is 24, and a daemon opens up to 64: raise it (LimitNOFILE= of "
            "the service, ulimit -n of a shell)");
}

}  // namespace
}  // namespace lldp::io
