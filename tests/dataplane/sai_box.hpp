// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "agent/daemon/sai_spawner.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/sai/api.hpp"
#include "tests/dataplane/fake_sai/chip.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::dataplane {

/// A box whose chip is the fake libsai's: its ports have a map of somebody else's, and PFC for 3
/// and 4.
class SaiBox {
 public:
  SaiBox() : chip_(fake_sai::open(chip_file())) {
    std::ofstream(profile()) << "# of the box\nSAI_INIT_CONFIG_FILE=/usr/share/sai.xml\n"
                             << "no variable\n"
                             << fake_sai::kFileKey << "=" << chip_file() << "\r\n";
    renew();
  }
  SaiBox(const SaiBox&) = delete;
  SaiBox& operator=(const SaiBox&) = delete;
  ~SaiBox() { ::munmap(chip_, sizeof *chip_); }

  /// As it was made.
  void renew() {
    ::unlink(memory().c_str());
    new (chip_) fake_sai::Chip;
    fake_sai::Object* map = chip_->add(SAI_OBJECT_TYPE_QOS_MAP);
    map->map_type = SAI_QOS_MAP_TYPE_DSCP_TO_TC;
    for (std::uint8_t d = 0; d < 64; ++d)
      map->pairs[map->count++] = {.key = d,
                                  .value = static_cast<std::uint8_t>(d == 46  ? 5
                                                                     : d == 3 ? 3
                                                                              : 1)};
    theirs_ = map->oid;
    for (int i : {0, 1, 2, 3}) {
      fake_sai::Object* port = chip_->add(SAI_OBJECT_TYPE_PORT);
      port->maps[0] = theirs_;
      port->pfc = 0b1'1000;
      fake_sai::Object* hostif = chip_->add(SAI_OBJECT_TYPE_HOSTIF);
      hostif->of = port->oid;
      name_of(i).copy(hostif->name, sizeof hostif->name - 1);
    }
  }

  static std::string name_of(int i) { return "Ethernet" + std::to_string(4 * i); }
  fake_sai::Chip& chip() { return *chip_; }
  std::uint64_t theirs() const { return theirs_; }  ///< map
  std::string chip_file() const { return dir_ / "chip"; }
  std::string profile() const { return dir_ / "sai.profile"; }
  std::string memory() const { return dir_ / "state.sai"; }
  Result<SaiOptions> options() const {
    auto spawner = io::fork_sai_spawner(LLDP_FAKE_SAI, profile());
    if (!spawner) return fail(spawner.error());
    return SaiOptions{
        .memory = memory(), .spawner = std::move(*spawner), .opening = std::chrono::seconds(10)};
  }
  fake_sai::Object& port(int i) {
    for (const fake_sai::Object& o : chip_->objects)
      if (o.type == SAI_OBJECT_TYPE_HOSTIF && o.name == name_of(i))
        return *chip_->find(o.of, SAI_OBJECT_TYPE_PORT);
    std::abort();
  }
  std::size_t count(int type) const {
    return static_cast<std::size_t>(
        std::ranges::count(chip_->objects, type, &fake_sai::Object::type));
  }

  struct Left {
    unsigned dscp = 0, group = 0, queue = 0;
    friend bool operator==(const Left&, const Left&) = default;
    friend void PrintTo(const Left& l, std::ostream* os) {
      *os << "DSCP " << l.dscp << " pg " << l.group << " queue " << l.queue;
    }
  };
  /// What becomes of a packet: the chip's way, by its maps and its ACL, nothing of ours. The
  /// priority group is that of the class it came with.
  Left forward(int in, int out, unsigned dscp, int color = SAI_PACKET_COLOR_GREEN) {
    const auto look = [&](const fake_sai::Object& at, int which, unsigned key, unsigned otherwise) {
      const fake_sai::Object* map = chip_->find(at.maps[which], SAI_OBJECT_TYPE_QOS_MAP);
      for (std::uint32_t i = 0; map != nullptr && i < map->count; ++i)
        if (map->pairs[i].key == key && (which != 1 || map->pairs[i].color == color))
          return static_cast<unsigned>(map->pairs[i].value);
      return otherwise;
    };
    fake_sai::Object& from = port(in);
    fake_sai::Object& to = port(out);
    unsigned tc = look(from, 0, dscp, 0);
    const unsigned group = look(from, 3, tc, 0);
    const auto has = [](const fake_sai::PortSet& set, std::uint64_t oid) {
      return std::find(set.ports, set.ports + set.count, oid) != set.ports + set.count;
    };
    unsigned after = dscp;
    for (const fake_sai::Object& o : chip_->objects)
      if (o.type == SAI_OBJECT_TYPE_ACL_ENTRY && chip_->bound != 0 && o.of == chip_->bound &&
          o.dscp == dscp && has(o.in, from.oid) && has(o.out, to.oid)) {
        tc = o.tc;
        after = o.to;
      }
    return {look(to, 1, tc, after), group, look(to, 2, tc, 0)};
  }

 private:
  TempDir dir_;
  fake_sai::Chip* chip_;
  std::uint64_t theirs_ = 0;
};

}  // namespace lldp::dataplane
