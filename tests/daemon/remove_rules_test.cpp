// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/remove_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/fake_backend.hpp"

namespace lldp::io {
namespace {

using dataplane::FakeBackend;
using dataplane::FakeKernel;
using testing::HasSubstr;

/// The others beside bpf, which is configured: a kernel for each that can be opened.
class RemoveRules : public testing::Test {
 protected:
  std::string found() {
    const auto others = find_others(
        "bpf",
        [this](std::string_view name) -> Result<std::unique_ptr<dataplane::Backend>> {
          EXPECT_NE(name, "bpf");
          const auto at = kernels_.find(name);
          if (at == kernels_.end()) return fail(Error{ENOENT, "backend", "is not here"});
          return std::make_unique<FakeBackend>(at->second);
        },
        "/nonexistent");
    return others ? "nothing" : to_string(others.error());
  }
  static FakeKernel with_rules(std::uint32_t ports = 1) {
    FakeKernel kernel;
    for (std::uint32_t port = 7; port < 7 + ports; ++port)
      kernel.installed[{*Ifindex::make(port), dataplane::Part::kRemap}] = {};
    return kernel;
  }

  std::map<std::string, FakeKernel, std::less<>> kernels_;
};

TEST_F(RemoveRules, FindWhatAnotherBackEndHasLeft) {
  EXPECT_EQ(found(), "nothing");
  kernels_["flower"];
  EXPECT_EQ(found(), "nothing");
  kernels_["sonic"] = with_rules();
  EXPECT_EQ(found(),
            "7: rules of another back end, sonic, are there and stay: lldp-leveld --remove-rules "
            "--backend sonic");
}

TEST_F(RemoveRules, OfManyPortsTheFirstFourAreNamed) {
  kernels_["sonic"] = with_rules(4);
  EXPECT_THAT(found(), testing::StartsWith("7, 8, 9, 10: rules of another back end"));
  kernels_["sonic"] = with_rules(6);
  EXPECT_THAT(found(), testing::StartsWith("7, 8, 9, 10, ...: rules of another back end"));
}

TEST_F(RemoveRules, BackEndWhereNobodyIsHasLeftNothingThatCouldBeFound) {
  for (const int code : {ENOENT, ECONNREFUSED}) {
    const Error nobody{code, "backend sonic", "Redis: nobody is there"};
    kernels_["sonic"] = {.down = nobody, .unread = nobody};
    EXPECT_EQ(found(), "nothing");
  }
}

TEST_F(RemoveRules, BackEndThatIsThereAndDoesNotAnswerIsNotTakenForOneThatLeftNothing) {
  const Error mute{0, "backend soft", "the switch has not answered yet"};
  kernels_["soft"] = {.down = mute, .unread = mute};
  EXPECT_EQ(found(),
            "backend soft: whether another back end, soft, has left rules is not known: the switch "
            "has not answered yet");
}

TEST_F(RemoveRules, BackEndThatCannotSayIsNotTakenForOneThatLeftNothing) {
  kernels_["flower"] = {.unread = Error{ENOBUFS, "flower", "no buffer space"}};
  EXPECT_EQ(found(),
            "flower: whether another back end, flower, has left rules is not known: no buffer "
            "space");
  kernels_["dcb"] = {.unread = Error{0, "dcb.json", "is damaged"}};
  EXPECT_THAT(found(), HasSubstr("dcb.json: whether another back end, dcb,")) << "the first";
  kernels_["sonic"] = with_rules();
  EXPECT_THAT(found(), HasSubstr("rules of another back end, sonic, are there")) << "what is known";
}

}  // namespace
}  // namespace lldp::io
