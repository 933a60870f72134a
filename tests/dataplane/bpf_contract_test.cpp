// SPDX-License-Identifier: Apache-2.0
// The contract, on real interfaces.
#include <net/if.h>

#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/private_net.hpp"

namespace lldp::dataplane {
namespace {

/// Ports p0 and p1, fresh for every test.
class BpfWorld : public World {
 public:
  explicit BpfWorld(BpfOptions options) : options_(std::move(options)) {
    why_not_ = PrivateNet::enter();
    if (!why_not_.empty()) return;
    if (options_.bpffs.empty()) options_.bpffs = PrivateNet::bpffs();
    for (int n : {0, 1}) {
      sh("ip link del p" + std::to_string(n) + " 2>/dev/null");
      sh("ip link add p" + std::to_string(n) + " up type veth peer name q" + std::to_string(n));
    }
  }
  std::unique_ptr<Backend> open() override {
    if (!why_not_.empty()) return nullptr;
    auto backend = make_backend("bpf", {.bpf = options_});
    if (backend) return std::move(*backend);
    why_not_ = to_string(backend.error());
    return nullptr;
  }
  std::string why_not() const override { return why_not_; }
  PortRef port(int n) override {
    const std::string name = "p" + std::to_string(n);
    return {*Ifindex::make(::if_nametoindex(name.c_str())), name};
  }
  const BpfOptions& options() const { return options_; }

 private:
  BpfOptions options_;
  std::string why_not_{};
};

struct ClsactWorld : BpfWorld {
  ClsactWorld() : BpfWorld({.bpffs = "", .hook = BpfOptions::Hook::kClsact}) {}
};
struct AutoWorld : BpfWorld {
  AutoWorld() : BpfWorld({.bpffs = ""}) {}
};
struct ClsactWithoutBpffsWorld : BpfWorld {
  ClsactWithoutBpffsWorld() : BpfWorld({.bpffs = "/nonexistent"}) {}
};
struct QueuesWorld : BpfWorld {
  QueuesWorld() : BpfWorld({.bpffs = "/nonexistent", .queues = true}) {
    // Somebody's own: the contract is that of a back end without queues.
    for (const char* port : {"p0", "p1"})
      if (why_not().empty()) sh("tc qdisc add dev " + std::string(port) + " root handle 1: pfifo");
  }
};
struct TcxWorld : BpfWorld {
  TcxWorld() : BpfWorld({.bpffs = "", .hook = BpfOptions::Hook::kTcx}) {}
};

INSTANTIATE_TEST_SUITE_P(Bpf, BackendContract,
                         testing::Values(world_case<AutoWorld>("Auto"),
                                         world_case<ClsactWorld>("Clsact"),
                                         world_case<ClsactWithoutBpffsWorld>("ClsactNoBpffs"),
                                         world_case<QueuesWorld>("OwnQdiscKept"),
                                         world_case<TcxWorld>("Tcx")),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::dataplane
