// SPDX-License-Identifier: Apache-2.0
#include "tests/dataplane/contract.hpp"

#include <sstream>

#include "dataplane/print/print.hpp"
#include "tests/dataplane/fake_backend.hpp"

namespace lldp::dataplane {
namespace {

class PrintWorld : public World {
 public:
  std::unique_ptr<Backend> open() override { return std::make_unique<Print>(out_); }
  PortRef port(int n) override {
    return {*Ifindex::make(7U + static_cast<unsigned>(n)), std::to_string(7 + n)};
  }
  bool remembers() const override { return false; }
  bool acts() const override { return false; }
  bool knows_ports() const override { return false; }

 private:
  std::ostringstream out_;
};

class FakeWorld : public World {
 public:
  FakeWorld() { kernel_.vanished.insert(Ifindex::of<0x7ffffff0>()); }
  std::unique_ptr<Backend> open() override { return std::make_unique<FakeBackend>(kernel_); }
  PortRef port(int n) override {
    return {*Ifindex::make(7U + static_cast<unsigned>(n)), std::to_string(7 + n)};
  }

 private:
  FakeKernel kernel_;
};

INSTANTIATE_TEST_SUITE_P(Pure, BackendContract,
                         testing::Values(world_case<PrintWorld>("Print"),
                                         world_case<FakeWorld>("Fake")),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::dataplane
