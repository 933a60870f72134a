// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cabling/drawing.hpp"
#include "lab/collect/device.hpp"
#include "lab/report/fabric_picture.hpp"

/// The cables of a whole fabric, as its devices tell them, held against a plan.
namespace lldp::lab::collect {

struct CableFinding {
  enum class Kind : std::uint8_t {
    kSwapped,    ///< two cables that are each other's: exchanging two plugs mends both
    kWrong,      ///< a planned port is connected with another one
    kMissing,    ///< no neighbor is heard at either end
    kUnplanned,  ///< a cable between two ports that the plan leaves free
    kSpeed,      ///< slower or faster than planned, or two ends that differ
    kMtu,        ///< the same of the MTU
    kUnknown,    ///< neither end tells of itself
  };
  Kind kind{};
  std::string device{};  ///< as the plan calls it, else as it is heard
  std::string port{};
  std::string peer{};  ///< spine1:swp3: the planned other end, or the one that is heard
  std::string text{};
  friend bool operator==(const CableFinding&, const CableFinding&) = default;
};
[[nodiscard]] std::string_view to_string(CableFinding::Kind kind);  ///< swapped, wrong, ...

/// Two devices that do not have as many cables between them as planned.
struct CableCount {
  std::string a{};
  std::string b{};
  std::size_t planned = 0;
  std::size_t seen = 0;
  friend bool operator==(const CableCount&, const CableCount&) = default;
};

struct CableCheck {
  std::size_t planned = 0;  ///< cables
  std::size_t right = 0;    ///< of these
  std::vector<CableFinding> findings{};
  std::vector<CableCount> counts{};
  std::vector<std::string> notes{};  ///< what of the plan was left out, with its line
  [[nodiscard]] bool is_right() const { return findings.empty(); }
};

/// Devices are found in the plan by system name, in full or short where that has one meaning, else
/// by the attribute `chassis`. A port is the one planned if it has its name, in any case and with
/// `Ethernet`, `Eth` or `Et` before its numbers, if the Port Description or an alias of the plan
/// says so. Attributes `speed` (`100G`, or Mb/s) and `mtu` of a cable are held against what the
/// agents tell of their ports, else against what the other end hears of them. An error: a port of
/// the plan with two cables.
[[nodiscard]] Result<CableCheck> check_cables(const cabling::Drawing& plan,
                                              const std::vector<Device>& devices);

/// `100G`, `25Gb/s`, `100000` in Mb/s; nothing: it is no speed.
[[nodiscard]] std::optional<std::uint32_t> speed_mbps_of(std::string_view text);

[[nodiscard]] std::string to_table(const CableCheck& check);
/// One object: `planned`, `right`, `findings`, `counts`, `notes`.
[[nodiscard]] std::string to_json(const CableCheck& check);
/// Sets off what was found in the picture of the fabric that was collected.
void add_marks(const CableCheck& check, const Fabric& fabric, Marks& marks);

}  // namespace lldp::lab::collect
