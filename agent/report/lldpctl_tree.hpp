// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/report/lldpctl.hpp"

/// Inside of the room: lldpctl's output as a tree. Its five formats are five ways through it.
namespace lldp::report {

struct Element {
  std::string tag{};
  std::string label{};
  struct Attribute {
    std::string name{};
    std::string label{};
    std::string value{};
  };
  std::vector<Attribute> attributes{};
  std::optional<std::string> data{};
  std::vector<Element> children{};

  Element& attribute(std::string name, std::string its_label, std::string value) {
    attributes.push_back({std::move(name), std::move(its_label), std::move(value)});
    return *this;
  }
  Element& child(std::string its_tag, std::string its_label) {
    return children.emplace_back(Element{std::move(its_tag), std::move(its_label), {}, {}, {}});
  }
  /// lldpctl's tag_datatag(): nothing where there is no value.
  void text(std::string its_tag, std::string its_label, std::optional<std::string> value) {
    if (value) child(std::move(its_tag), std::move(its_label)).data = std::move(value);
  }
};

/// `root` as lldpctl prints it. Its texts may be any octets.
[[nodiscard]] std::string write_lldpctl(const Element& root, LldpctlFormat format);

}  // namespace lldp::report
