// SPDX-License-Identifier: Apache-2.0
#include "agent/control/control_session.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "agent/control/interface.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using varlink::Call;
using varlink::quote;

/// nullptr: it was not given.
const varlink::Parameter* parameter(const Call& call, std::string_view name) {
  const auto at = std::ranges::find(call.parameters, name, &varlink::Parameter::name);
  return at == call.parameters.end() ? nullptr : &*at;
}

std::vector<std::string> ports_of(const Call& call) {
  const auto* ports = parameter(call, "ports");
  return ports == nullptr ? std::vector<std::string>() : ports->values;
}

std::string object(std::string_view member, std::string_view value) {
  return "{" + quote(member) + ":" + quote(value) + "}";
}

}  // namespace

/// What can be called.
struct Session::Method {
  struct Takes {
    std::string_view name{};  ///< empty: nothing
    bool is_list = false;
    bool needed = false;
  };
  std::string_view name{};
  std::array<Takes, 3> takes{};
  void (Session::*run)(const Call&) = nullptr;
  bool streams = false;
};

Session::Session(asio::local::stream_protocol::socket socket, SessionOwner& owner, Client client)
    : socket_(std::move(socket)),
      owner_(&owner),
      client_(client),
      framer_(owner.limits().message_octets),
      stall_(socket_.get_executor()) {}

void Session::close() {
  if (owner_ == nullptr) return;
  const auto keep = shared_from_this();  // the owner lets go of us
  error_code ignored;
  socket_.close(ignored);
  stall_.cancel();
  std::exchange(owner_, nullptr)->ended(*this);
}

void Session::read() {
  socket_.async_read_some(asio::buffer(input_),
                          [self = shared_from_this()](error_code error, std::size_t size) {
                            if (self->owner_ == nullptr) return;
                            if (error || self->stream_ != Stream::kNone) return self->close();
                            self->last_heard_ = std::chrono::steady_clock::now();
                            self->framer_.feed({self->input_.data(), size});
                            self->serve();
                          });
}

/// Answers one received call. The next call is served when the answer is written; a call without an
/// answer (oneway) lets the other events of the loop go first, too.
void Session::serve() {
  if (owner_ == nullptr || !writing_.empty()) return;
  const auto message = framer_.next();
  if (framer_.overlong()) return close();
  if (!message) return read();
  const auto call = varlink::parse_call(*message);
  if (!call) return close();  // not Varlink: there is nothing to answer to
  answer(*call);
  if (stream_ != Stream::kNone) return read();  // to learn of the client's end
  if (writing_.empty())
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->serve(); });
}

void Session::answer(const Call& call) {
  static constexpr std::string_view kOurs = "org.lldplevel.";
  static constexpr std::string_view kService = "org.varlink.service.";
  static constexpr Method::Takes kPorts{"ports", true};
  static constexpr Method kMethods[] = {
      {"org.varlink.service.GetInfo", {}, &Session::get_info},
      {"org.varlink.service.GetInterfaceDescription",
       {{{"interface", false, true}}},
       &Session::get_interface_description},
      {"org.lldplevel.Show", {kPorts}, &Session::show},
      {"org.lldplevel.Detail", {kPorts}, &Session::detail},
      {"org.lldplevel.Watch", {kPorts}, &Session::watch, true},
      {"org.lldplevel.Stats", {kPorts}, &Session::stats},
      {"org.lldplevel.Rules", {}, &Session::rules},
      {"org.lldplevel.Config", {}, &Session::config},
      {"org.lldplevel.Record", {kPorts}, &Session::record, true},
      {"org.lldplevel.Reload", {}, &Session::reload},
      {"org.lldplevel.Forget", {kPorts}, &Session::forget},
      {"org.lldplevel.Update", {kPorts}, &Session::update},
      {"org.lldplevel.Pause", {kPorts}, &Session::pause},
      {"org.lldplevel.Resume", {kPorts}, &Session::resume},
      {"org.lldplevel.AcceptPfc", {{{"port", false, true}}}, &Session::accept_pfc},
      {"org.lldplevel.RejectPfc", {{{"port", false, true}}}, &Session::accept_pfc},
      {"org.lldplevel.Set", {{{"key", false, true}, {"value", false, true}}}, &Session::set},
      {"org.lldplevel.Mute",
       {{{"alarm", false, true}, {"port", false, true}, {"seconds", false, true}}},
       &Session::mute},
  };
  mute_ = call.oneway;
  for (const Method& method : kMethods)
    if (method.name == call.method) return dispatch(method, call);
  if (call.method.starts_with(kOurs) || call.method.starts_with(kService))
    return send(
        varlink::error("org.varlink.service.MethodNotFound", object("method", call.method)));
  const std::string interface =
      call.method.substr(0, std::min(call.method.rfind('.'), call.method.size()));
  send(varlink::error("org.varlink.service.InterfaceNotFound", object("interface", interface)));
}

/// The name of what the method does not take as it is given, or misses. A caller may give any name,
/// so no name can stand for "none".
std::optional<std::string> Session::wrong_parameter(const Method& method, const Call& call) {
  if (call.misfit) return call.misfit;
  for (const varlink::Parameter& p : call.parameters)
    if (std::ranges::none_of(method.takes, [&](const Method::Takes& takes) {
          return !takes.name.empty() && p.name == takes.name && p.is_list == takes.is_list;
        }))
      return p.name;
  for (const Method::Takes& takes : method.takes)
    if (takes.needed && parameter(call, takes.name) == nullptr) return std::string(takes.name);
  return std::nullopt;
}

void Session::dispatch(const Method& method, const Call& call) {
  if (const auto wrong = wrong_parameter(method, call))
    return send(
        varlink::error("org.varlink.service.InvalidParameter", object("parameter", *wrong)));
  if (method.streams && (!call.more || call.oneway))
    return send(varlink::error("org.varlink.service.ExpectedMore"));
  (this->*method.run)(call);
}

void Session::send(const std::string& message) {
  if (mute_) return;
  queued_ += message;
  if (writing_.empty()) write();
}

void Session::write() {
  if (written_ == writing_.size()) {
    writing_.clear();
    written_ = 0;
    std::swap(writing_, queued_);
  }
  stall_.expires_after(owner_->limits().stall);
  stall_.async_wait([self = shared_from_this()](error_code cancelled) {
    // Cancelled too late, it runs all the same: then the deadline has moved.
    if (!cancelled && self->stall_.expiry() <= std::chrono::steady_clock::now()) self->close();
  });
  socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                           [self = shared_from_this()](error_code error, std::size_t size) {
                             if (self->owner_ == nullptr) return;
                             if (error) return self->close();
                             self->written_ += size;
                             if (self->written_ < self->writing_.size() || !self->queued_.empty())
                               return self->write();
                             self->stall_.cancel();
                             self->writing_.clear();
                             self->written_ = 0;
                             if (self->stale_) return self->changed();
                             if (self->stream_ == Stream::kNone) self->serve();
                           });
}

void Session::changed() {
  stale_ = !writing_.empty();
  if (!stale_) send(varlink::reply(owner_->handler().show_json(ports_), true));
}

void Session::frame_seen(std::string_view port, std::string_view text) {
  if (stream_ != Stream::kRecord || (!ports_.empty() && !any_name_match(ports_, port))) return;
  if (queued_.size() + text.size() > owner_->limits().queue_octets) {
    ++dropped_;
    return;
  }
  std::string members = "{" + std::string(text);
  if (dropped_ != 0) members += R"(,"dropped":)" + std::to_string(std::exchange(dropped_, 0));
  send(varlink::reply(members + "}", true));
}

void Session::get_info(const Call&) {
  send(varlink::reply(R"({"vendor":"lldp-level","product":"lldp-leveld","version":)" +
                      quote(kVersion) +
                      R"(,"url":"","interfaces":["org.varlink.service","org.lldplevel"]})"));
}

void Session::get_interface_description(const Call& call) {
  const std::string& name = call.parameters.front().values.front();
  if (name == "org.lldplevel") return send(varlink::reply(object("description", kInterface)));
  if (name == "org.varlink.service")
    return send(varlink::reply(object("description", kServiceInterface)));
  send(varlink::error("org.varlink.service.InterfaceNotFound", object("interface", name)));
}

void Session::show(const Call& call) {
  send(varlink::reply(owner_->handler().show_json(ports_of(call))));
}

void Session::detail(const Call& call) {
  send(varlink::reply(owner_->handler().detail_json(ports_of(call))));
}

void Session::stats(const Call& call) {
  send(varlink::reply(owner_->handler().stats_json(ports_of(call))));
}

void Session::rules(const Call&) { send(varlink::reply(owner_->handler().rules_json())); }

void Session::config(const Call&) { send(varlink::reply(owner_->handler().config_json())); }

void Session::watch(const Call& call) {
  ports_ = ports_of(call);
  stream_ = Stream::kWatch;
  owner_->stream_began(stream_);
  changed();
}

void Session::record(const Call& call) {
  ports_ = ports_of(call);
  stream_ = Stream::kRecord;
  owner_->stream_began(stream_);
  send(varlink::reply("{}", true));
}

bool Session::may_command() {
  if (!client_.may_command)
    send(varlink::error("org.lldplevel.NotAllowed",
                        object("who", "only root and the daemon's own user may do this")));
  return client_.may_command;
}

void Session::forget(const Call& call) {
  if (!may_command()) return;
  const auto done = owner_->handler().forget(ports_of(call));
  if (done) return send(varlink::reply("{}"));
  send(varlink::error("org.lldplevel.ForgetFailed", object("reason", to_string(done.error()))));
}

void Session::answer(const Result<void>& done) {
  if (done) return send(varlink::reply("{}"));
  send(varlink::error("org.lldplevel.Refused", object("reason", to_string(done.error()))));
}

void Session::update(const Call& call) {
  if (may_command()) answer(owner_->handler().update(ports_of(call)));
}

void Session::pause(const Call& call) {
  if (may_command()) answer(owner_->handler().pause(ports_of(call)));
}

void Session::resume(const Call& call) {
  if (may_command()) answer(owner_->handler().resume(ports_of(call)));
}

void Session::set(const Call& call) {
  if (!may_command()) return;
  const auto value = [&](std::string_view name) { return parameter(call, name)->values.front(); };
  answer(owner_->handler().set(value("key"), value("value")));
}

void Session::mute(const Call& call) {
  if (!may_command()) return;
  const auto value = [&](std::string_view name) { return parameter(call, name)->values.front(); };
  answer(owner_->handler().mute(value("alarm"), value("port"), value("seconds")));
}

void Session::accept_pfc(const Call& call) {
  if (!may_command()) return;
  answer(owner_->handler().accept_pfc(parameter(call, "port")->values.front(),
                                      call.method == "org.lldplevel.AcceptPfc"));
}

void Session::reload(const Call&) {
  if (!may_command()) return;
  const auto done = owner_->handler().reload_json();
  if (done) return send(varlink::reply(*done));
  std::string lines;
  for (const Error& error : done.error()) lines += (lines.empty() ? "" : "\n") + to_string(error);
  send(varlink::error("org.lldplevel.ReloadFailed", object("reason", lines)));
}

}  // namespace lldp::io
