// SPDX-License-Identifier: Apache-2.0
#include "dataplane/factory.hpp"

#include "dataplane/bpf/bpf.hpp"
#include "dataplane/print/print.hpp"
#include "dataplane/sonic/sonic.hpp"

namespace lldp::dataplane {

Result<std::unique_ptr<Backend>> make_backend(std::string_view name, const Options& options) {
  if (name == "bpf") return Bpf::open(options.bpf);
  if (name == "sonic") return Sonic::open(options.sonic);
  if (name == "print") return std::make_unique<Print>(*options.print.out);
  std::string known;
  for (std::string_view b : kBackends) known.append(known.empty() ? "" : ", ").append(b);
  return fail(Error{0, "backend", std::string(name) + " is not known: use one of " + known});
}

}  // namespace lldp::dataplane
