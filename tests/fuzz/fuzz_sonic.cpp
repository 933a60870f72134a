// SPDX-License-Identifier: Apache-2.0
// What is kept of ports, and rows of CONFIG_DB, one `KEY FIELD VALUE` a line: what was understood
// is written and understood alike, and whatever a row says it is looked at to its end.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "dataplane/sonic/writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  using namespace lldp::dataplane::sonic;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  View view;
  if (const auto memory = parse_memory(text)) {
    if (parse_memory(format(*memory)) != memory) std::abort();
    view.notes = *memory;
  }
  for (const std::string& line : split_list(text, '\n'))
    if (const auto words = split_list(line, ' '); words.size() == 3)
      view.config[words[0]][words[1]] = words[2];
  const PortBuffers buffers(view.config);
  RowWriter writer(view, buffers);
  for (const std::string& port : view.our_ports()) {
    (void)buffer_fault(view, buffers, port, dataplane::Part::kPfc, 0xff);
    (void)buffer_fault(view, buffers, port, dataplane::Part::kQueues, 0xff);
    (void)next_pfc(view, buffers, port, true, true);
    (void)follow_up(view, buffers, port);
    writer.take_off(port);
  }
  (void)release_fault(view);
  (void)view.before();
  return 0;
}
