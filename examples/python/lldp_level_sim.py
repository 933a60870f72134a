# SPDX-License-Identifier: Apache-2.0
"""The packet simulator of lldp-level-lab from Python, by ctypes over liblldp-level-sim: nothing is built.

    from lldp_level_sim import Simulation

    with Simulation({"fabric": "fat-tree.json"}) as sim:
        sim.send(0, 5, 1_000_000, done=lambda flow: print(flow, sim.now_us))
        sim.run()

Times are in picoseconds, as in lldp_level_sim.h; hosts are numbers or names. The library is found as the linker
finds it, or at LLDP_LEVEL_SIM_LIBRARY."""
import ctypes
import ctypes.util
import json
import os
import sys
import time

API_VERSION = 1
FOREVER = 2**64 - 1
NO_HOST = 2**32 - 1
GO_BACK_N, IRN, PACED = range(3)
OK, IDLE, STOPPED, DEADLOCK = range(4)
US, MS = 10**6, 10**9

_DONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
_MOMENT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class _Flow(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("source", ctypes.c_uint32), ("target", ctypes.c_uint32), ("octets", ctypes.c_uint64),
                ("start", ctypes.c_uint64), ("rate_bps", ctypes.c_uint64), ("hash", ctypes.c_uint64), ("transport", ctypes.c_uint32),
                ("lossless_class", ctypes.c_uint32), ("done", _DONE), ("user", ctypes.c_void_p)]


class Totals(ctypes.Structure):
    """As lls_totals."""
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_uint64) for name in (
        "events", "packet_hops", "drops", "drops_lossy", "lost", "pauses", "turned", "ecn_marks", "sent_octets", "delivered_octets",
        "flows", "unfinished", "digest"))]


class Error(Exception):
    """What the library refused, in its words."""


class Deadlock(Error):
    """Switches wait for each other, and nothing that is under way gets anything any more."""


def _load():
    name = os.environ.get("LLDP_LEVEL_SIM_LIBRARY") or ctypes.util.find_library("lldp-level-sim") or "liblldp-level-sim.so.0"
    try:
        library = ctypes.CDLL(name)
    except OSError as e:
        raise Error(f"{name}: {e}: install liblldp-level-sim, or set LLDP_LEVEL_SIM_LIBRARY to its file") from None
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    u32, u64, result = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int
    for function, returns, *takes in (
            ("lls_api_version", u32), ("lls_create", handle, text, text, text, size), ("lls_open", handle, text, text, size),
            ("lls_destroy", result, handle), ("lls_error", text, handle), ("lls_hosts", u32, handle), ("lls_host_name", text, handle, u32),
            ("lls_host", u32, handle, text), ("lls_send", result, handle, ctypes.POINTER(_Flow), ctypes.POINTER(u64)),
            ("lls_finished", u64, handle, u64), ("lls_at", result, handle, u64, _MOMENT, handle), ("lls_run_until", result, handle, u64),
            ("lls_stop", None, handle), ("lls_now", u64, handle), ("lls_deadlocked", ctypes.c_int, handle),
            ("lls_get_totals", result, handle, ctypes.POINTER(Totals))):
        getattr(library, function).restype = returns
        getattr(library, function).argtypes = takes
    if library.lls_api_version() < API_VERSION:
        raise Error(f"{name}: has API version {library.lls_api_version()}, this module wants {API_VERSION}")
    return library


class Simulation:
    """A scenario (a path, or a dict with its keys) on virtual time. What has come of it stays when a run is cut short:
    `results` has every flow that has arrived, and `record`, a file's name, gets them as JSON lines while it runs."""

    def __init__(self, scenario, directory=None, record=None):
        self._library = _load()
        self._handle = None
        self._calls = {}     # by number: what is called, and by which moment or flow
        self._next_call = 0
        self._raised = None
        self._moments = 0
        self.flows = {}      # by number: (from, to, octets, start)
        self.results = []
        self._record = open(record, "a", encoding="utf-8") if record else None
        error = ctypes.create_string_buffer(512)
        if isinstance(scenario, dict):
            self._handle = self._library.lls_create(json.dumps(scenario).encode(), os.fsencode(directory) if directory else None, error, len(error))
        else:
            self._handle = self._library.lls_open(os.fsencode(scenario), error, len(error))
        if not self._handle:
            self.close()
            raise Error(error.value.decode(errors="replace"))
        self._on_done, self._on_moment = _DONE(self._arrived), _MOMENT(self._moment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._handle:
            self._library.lls_destroy(self._handle)
        self._handle = None
        if self._record:
            self._record.close()
        self._record = None

    def _check(self, result):
        if result < 0:
            raise Error(self._library.lls_error(self._handle).decode(errors="replace"))
        return result

    def _host(self, host):
        if not isinstance(host, str):
            return host
        number = self._library.lls_host(self._handle, host.encode())
        if number == NO_HOST:
            raise Error(f"{host}: the fabric has no such host")
        return number

    def _guard(self, call, *arguments):
        """A callback: what it raises ends the run, and is raised there."""
        try:
            call(*arguments)
        except BaseException as e:  # pylint: disable=broad-except
            if self._raised is None:
                self._raised = e
            self._library.lls_stop(self._handle)

    def _arrived(self, _handle, flow, _user):
        source, target, octets, start, call = self.flows[flow]
        self.results.append({"flow": flow, "from": source, "to": target, "octets": octets, "at_ns": self.now / 1000,
                             "fct_ns": (self.now - start) / 1000})
        if self._record:
            self._guard(lambda: print(json.dumps(self.results[-1]), file=self._record, flush=True))
        if call:
            self._guard(call, flow)

    def _moment(self, _handle, user):
        self._moments -= 1
        self._guard(self._calls.pop(user or 0))

    @property
    def hosts(self):
        """Their names, in the order of their numbers."""
        return [self._library.lls_host_name(self._handle, h).decode() for h in range(self._library.lls_hosts(self._handle))]

    @property
    def now(self):
        return self._library.lls_now(self._handle)

    @property
    def now_us(self):
        return self.now / US

    @property
    def deadlocked(self):
        return bool(self._library.lls_deadlocked(self._handle))

    @property
    def totals(self):
        totals = Totals(size=ctypes.sizeof(Totals))
        self._check(self._library.lls_get_totals(self._handle, totals))
        return totals

    def send(self, source, target, octets, *, start=0, done=None, rate_bps=0, hash=0, transport=GO_BACK_N, lossless_class=0):
        """A flow, by the links that are up; `done(flow)` is called when its last octet is there. Its number."""
        source, target = self._host(source), self._host(target)
        flow = _Flow(ctypes.sizeof(_Flow), source, target, octets, start, rate_bps, hash, transport, lossless_class, self._on_done)
        number = ctypes.c_uint64()
        self._check(self._library.lls_send(self._handle, flow, number))
        self.flows[number.value] = (source, target, octets, max(start, self.now), done)
        return number.value

    def at(self, when, call):
        """call() at that time, or now where it is over."""
        number = self._next_call
        self._next_call += 1
        self._calls[number] = call
        result = self._library.lls_at(self._handle, when, self._on_moment, number)
        if result < 0:
            del self._calls[number]
        self._check(result)
        self._moments += 1

    def after(self, delay, call):
        self.at(self.now + delay, call)

    def stop(self):
        """From a callback: run() comes back when what happens now has happened."""
        self._library.lls_stop(self._handle)

    def run(self, until=FOREVER, *, progress=None, slice_ps=100 * US, patience_ps=10 * MS):
        """Lets time pass until `until`, or until nothing is under way and no call waits. Between two slices Ctrl-C is heard,
        and progress(simulation) is called. Raises Deadlock where, with one, nothing arrives for `patience_ps`."""
        moved_at, before = self.now, None
        while self.now < until:
            result = self._check(self._library.lls_run_until(self._handle, min(until, self.now + slice_ps)))
            if self._raised is not None:
                raised, self._raised = self._raised, None
                raise raised
            if progress:
                progress(self)
            totals = self.totals
            if result == STOPPED:
                return STOPPED
            if until == FOREVER and totals.unfinished == 0 and self._moments == 0:
                return IDLE
            seen = totals.delivered_octets
            if seen != before or not self.deadlocked:
                moved_at, before = self.now, seen
            elif self.now - moved_at >= patience_ps and until == FOREVER and self._moments == 0:
                raise Deadlock(f"switches wait for each other; {totals.unfinished} flows have not ended; {len(self.results)} have")
        return OK


def bar(flows, out=sys.stderr, every_s=0.2):
    """For `progress=`: how many of so many flows have arrived, and how fast the simulation goes. Nothing where it is no terminal."""
    began = last = time.monotonic()

    def show(simulation):
        nonlocal last
        now = time.monotonic()
        over = len(simulation.results) >= flows
        if not out.isatty() or (now - last < every_s and not over):
            return
        last = now
        hops = simulation.totals.packet_hops / max(now - began, 1e-9)
        print(f"\r{len(simulation.results)} of {flows} flows, {simulation.now_us:.0f} us, {hops / 1e6:.1f} M packet-hops/s", end="\n" if over else "", file=out, flush=True)
    return show
