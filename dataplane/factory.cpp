// SPDX-License-Identifier: Apache-2.0
#include "dataplane/factory.hpp"

#include "base/text.hpp"
#include "dataplane/bpf/bpf.hpp"
#include "dataplane/compose.hpp"
#include "dataplane/dcb/dcb.hpp"
#include "dataplane/flower/flower.hpp"
#include "dataplane/print/print.hpp"
#include "dataplane/sai/sai.hpp"
#include "dataplane/soft/soft.hpp"
#include "dataplane/sonic/sonic.hpp"

namespace lldp::dataplane {
namespace {

Result<std::unique_ptr<Backend>> make_one(std::string_view name, const Options& options) {
  if (name == "bpf") return Bpf::open(options.bpf);
  if (name == "dcb") return Dcb::open(options.dcb);
  if (name == "flower") return Flower::open(options.flower);
  if (name == "sai") return Sai::open(options.sai);
  if (name == "soft") return Soft::open(options.soft);
  if (name == "sonic") return Sonic::open(options.sonic);
  if (name == "print") return std::make_unique<Print>(*options.print.out);
  std::string known;
  for (std::string_view b : kBackends) known.append(known.empty() ? "" : ", ").append(b);
  return fail(Error{0, "backend", std::string(name) + " is not known: use one of " + known});
}

}  // namespace

Result<std::unique_ptr<Backend>> make_backend(std::string_view name, const Options& options) {
  std::vector<std::unique_ptr<Backend>> members;
  for (const std::string& one : split_list(name)) {
    auto opened = make_one(one, options);
    if (!opened) return opened;
    members.push_back(std::move(*opened));
  }
  if (members.empty()) return make_one("", options);
  // Alone it need not be asked what it leaves out, if that is nothing that every port needs.
  if (members.size() == 1 && members[0]->does(Part::kClassify) && members[0]->does(Part::kRemap))
    return std::move(members[0]);
  return Compose::of(std::move(members));
}

}  // namespace lldp::dataplane
