// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace lldp::support {

/// What is wrong in a text of Prometheus' exposition format 0.0.4, line by line; stricter than the
/// format in that every family must have HELP and TYPE, counters end in _total and gauges do not.
inline std::vector<std::string> faults_of_exposition(const std::string& text) {
  static const std::regex kHelp(R"re(# HELP ([a-z_]+) \S(?:[^\\\n]|\\\\|\\n)*)re");
  static const std::regex kType(R"re(# TYPE ([a-z_]+) (counter|gauge|summary))re");
  static const std::string kLabel = R"re([a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*")re";
  static const std::regex kSample("([a-z_]+)(\\{" + kLabel + "(?:," + kLabel +
                                  ")*\\})? ([0-9.e+-]+|Nan)");
  std::vector<std::string> faults;
  std::set<std::string> families;
  std::set<std::string> samples;
  std::string helped;
  std::string family;
  std::string type;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto fault = [&](const char* what) { faults.push_back(std::string(what) + ": " + line); };
    std::smatch m;
    if (std::regex_match(line, m, kHelp)) {
      helped = m[1];
      if (!families.insert(helped).second) fault("a family twice");
    } else if (std::regex_match(line, m, kType)) {
      family = m[1];
      type = m[2];
      if (family != helped) fault("no HELP before it");
      if ((type == "counter") != family.ends_with("_total")) fault("not named by its type");
    } else if (std::regex_match(line, m, kSample)) {
      const std::string name = m[1];
      if (name != family && !(type == "summary" && name.starts_with(family)))
        fault("in another's family");
      if (!samples.insert(name + m[2].str()).second) fault("a sample twice");
    } else {
      fault("not of the format");
    }
  }
  if (!text.empty() && text.back() != '\n') faults.emplace_back("the last line has no end");
  return faults;
}

}  // namespace lldp::support
