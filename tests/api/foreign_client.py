#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""foreign_client.py - drives every call of schedd with Debian's python3-grpcio, and prints TAP

What another program sees that knows nothing of ours but the .proto files: the
calls, error details, health, reflection, and what becomes of bad requests.
It makes cgroups and classes of its own and removes them; the mode it sets is
the one it found.

usage: foreign_client.py --socket PATH [--proto DIR]      (as root, schedd running)
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, field_mask_pb2, wrappers_pb2
from google.protobuf.message_factory import MessageFactory

PROTOS = ("schedd/v1alpha1/scheduler.proto", "grpc/health/v1/health.proto",
          "grpc/reflection/v1/reflection.proto", "grpc/reflection/v1alpha/reflection.proto",
          "google/rpc/status.proto", "google/rpc/error_details.proto")
SERVICE = "schedd.v1alpha1.Scheduler"
TIMEOUT = 20
Code = grpc.StatusCode


# ---------- stubs ----------

def load_stubs(proto_dir, out_dir):
    """protoc's modules, each loaded by its file: its directories grpc/ and google/ must not
    hide the installed packages of those names, so out_dir never goes into sys.path."""
    subprocess.run(["protoc", "-I" + proto_dir, "-I/usr/include", "--python_out=" + out_dir, *PROTOS], check=True)
    stubs = []
    for proto in PROTOS:
        path = os.path.join(out_dir, proto.replace(".proto", "_pb2.py"))
        spec = importlib.util.spec_from_file_location("stub_" + proto.replace("/", "_").replace(".", "_"), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        stubs.append(module)
    return stubs


class Client:
    """Calls by name; remembers which methods were called."""

    def __init__(self, socket, api):
        self.channel = grpc.insecure_channel("unix:" + socket, options=[("grpc.default_authority", "localhost")])
        self.service = api.DESCRIPTOR.services_by_name["Scheduler"]
        self.api = api
        self.called = set()

    def __getattr__(self, name):
        method = self.service.methods_by_name[name]
        request = getattr(self.api, method.input_type.name)
        reply = getattr(self.api, method.output_type.name)
        make = self.channel.unary_stream if name == "WatchEvents" else self.channel.unary_unary
        call = make(f"/{SERVICE}/{name}", request_serializer=request.SerializeToString,
                    response_deserializer=reply.FromString)

        def run(message=None, **fields):
            self.called.add(name)
            return call(message if message is not None else request(**fields), timeout=TIMEOUT)
        return run

    def raw(self, path, data, **options):
        call = self.channel.unary_unary(path, request_serializer=lambda b: b, response_deserializer=lambda b: b)
        return call(data, timeout=TIMEOUT, **options)


# ---------- TAP ----------

TESTS = []


def test(fn):
    TESTS.append(fn)
    return fn


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(have, want, what="value"):
    check(have == want, f"{what}: have {have!r}, want {want!r}")


def fails(code, call, reason=None, field=None):
    """The error that call must give; its details are checked."""
    try:
        call()
    except grpc.RpcError as error:
        check(error.code() == code, f"status {error.code()} ({error.details()}), want {code}")
        details = read_details(error)
        if reason:
            equal(details["reason"], reason, "ErrorInfo.reason")
        if field:
            check(field in details["fields"], f"violations name {details['fields']}, want {field}")
        return error
    raise AssertionError(f"the call succeeded, want {code}")


def read_details(error):
    found = {"reason": None, "fields": [], "retry": None}
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        status = S.rpc.Status.FromString(value)
        equal(status.code, error.code().value[0], "code in the details")
        equal(status.message, error.details(), "message in the details")
        for detail in status.details:
            if detail.Is(S.details.ErrorInfo.DESCRIPTOR):
                info = S.details.ErrorInfo()
                detail.Unpack(info)
                equal(info.domain, "schedd.io", "ErrorInfo.domain")
                found["reason"] = info.reason
            elif detail.Is(S.details.BadRequest.DESCRIPTOR):
                bad = S.details.BadRequest()
                detail.Unpack(bad)
                found["fields"] += [v.field for v in bad.field_violations]
            elif detail.Is(S.details.RetryInfo.DESCRIPTOR):
                retry = S.details.RetryInfo()
                detail.Unpack(retry)
                found["retry"] = retry.retry_delay
    return found


class S:
    """What all tests share: stubs, client, a cgroup of our own."""
    api = health = refl = refl_alpha = rpc = details = None
    client = None
    cgroup = None       # its path below the cgroup2 mount
    cgroup_dir = None
    prefix = "foreign-"


def change(**fields):
    return S.api.Change(**fields)


def path_target(path=None):
    return S.api.Target(cgroup_path=path or S.cgroup)


def snapshot():
    """What no failed call may change."""
    classes = [(c.name, c.etag, c.weight.value) for c in S.client.ListClasses(page_size=1000).classes]
    orders = [(a.assignment_id, a.class_name) for a in S.client.ListAssignments(page_size=1000).assignments]
    return classes, orders, S.client.GetStatus().mode


# ---------- the node ----------

@test
def get_status_describes_the_node():
    node = S.client.GetStatus()
    check(node.mode in ("auto", "active", "observe", "paused", "detached"), f"mode {node.mode!r}")
    check(node.state, "state is empty")
    check(node.epoch and node.version, "epoch or version is empty")
    equal(node.kernel, os.uname().release, "kernel")
    equal(node.online_cpus, len(os.sched_getaffinity(0)), "online_cpus")
    check(node.managed_cgroups >= 1, "no cgroup is known")
    names = {c.name for c in node.classes}
    check({"latency-critical", "normal", "best-effort"} <= names, f"classes {names}")
    for condition in node.conditions:
        check(condition.type and condition.status, f"condition without type or status: {condition}")


@test
def set_mode_takes_the_present_mode():
    before = S.client.GetStatus()
    after = S.client.SetMode(mode=before.mode)
    equal(after.mode, before.mode, "mode")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.SetMode(mode="fast"), field="mode")
    equal(S.client.GetStatus().mode, before.mode, "mode after refusals")


@test
def set_mode_takes_paused_and_goes_back():
    before = S.client.GetStatus()
    equal(S.client.SetMode(mode="paused").mode, "paused", "mode")
    equal(S.client.SetMode(mode=before.mode).mode, before.mode, "mode")


@test
def get_config_gives_one_document():
    config = S.client.GetConfig()
    check("classes" in config.yaml or "scheduler" in config.yaml, f"yaml is {config.yaml[:80]!r}")


@test
def reload_config_answers():
    fails(Code.UNIMPLEMENTED, lambda: S.client.ReloadConfig(change=change(validate_only=True)),
          reason="NOT_SUPPORTED_YET")
    answer = S.client.ReloadConfig()
    check(answer.accepted, f"errors: {answer.errors}")


@test
def get_plan_in_both_views():
    basic = S.client.GetPlan()
    node = S.client.GetStatus()
    equal(basic.epoch, node.epoch, "epoch")
    equal(len(basic.cpus), 0, "CPUs in the basic view")
    full = S.client.GetPlan(view=S.api.GetPlanRequest.VIEW_FULL)
    check(len(full.cpus) >= node.online_cpus, f"{len(full.cpus)} CPUs, {node.online_cpus} are online")
    check({c.class_name for c in full.classes} >= {"normal"}, "no plan for normal")
    for cpu in full.cpus:
        check(cpu.exclusion, f"CPU {cpu.cpu_id} has no exclusion value")


# ---------- leases ----------

@test
def leases_are_granted_renewed_and_released():
    minute = {"seconds": 60}
    lease = S.client.GrantCores(class_name="lc", cpus=1, ttl=minute, wait_for=1)
    equal(lease.class_name, "latency-critical", "class_name")
    equal(lease.granted_cpus, 1, "granted_cpus")
    check(lease.lease_id in {one.lease_id for one in S.client.ListLeases(class_name="lc").leases}, "not in the list")
    renewed = S.client.RenewLease(lease_id=lease.lease_id, ttl={"seconds": 600})
    check(renewed.expire_time.seconds > lease.expire_time.seconds + 300, "expire_time did not move")
    equal(S.client.ReleaseLease(lease_id=lease.lease_id).state, S.api.Lease.STATE_RELEASED, "state")
    fails(Code.NOT_FOUND, lambda: S.client.ReleaseLease(lease_id=lease.lease_id))
    S.client.ReleaseLease(lease_id=lease.lease_id, allow_missing=True)


@test
def leases_refuse():
    grant, minute = S.client.GrantCores, {"seconds": 60}
    fails(Code.NOT_FOUND, lambda: grant(class_name="no-such", cpus=1, ttl=minute))
    fails(Code.INVALID_ARGUMENT, lambda: grant(class_name="lc", ttl=minute), field="cpus")
    fails(Code.INVALID_ARGUMENT, lambda: grant(class_name="lc", cpus=1), field="ttl")
    fails(Code.FAILED_PRECONDITION, lambda: grant(class_name="lc", cpus=1000, ttl=minute))
    fails(Code.NOT_FOUND, lambda: S.client.ReassignCores(from_class_name="no-such", to_class_name="lc", cpus=1,
                                                         ttl=minute))


# ---------- classes ----------

def our_class(name, **fields):
    return S.api.SchedClass(name=S.prefix + name, kind=S.api.SchedClass.KIND_NORMAL, **fields)


@test
def list_classes_pages():
    whole = [c.name for c in S.client.ListClasses().classes]
    token, paged = "", []
    while True:
        page = S.client.ListClasses(page_size=1, page_token=token)
        equal(len(page.classes), 1, "classes on a page")
        paged.append(page.classes[0].name)
        token = page.next_page_token
        if not token:
            break
    equal(paged, whole, "names over pages")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.ListClasses(page_size=-1), field="page_size")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.ListClasses(page_token="nonsense"))


@test
def get_class_knows_short_names():
    for short, name in (("lc", "latency-critical"), ("be", "best-effort"), ("default", "normal")):
        c = S.client.GetClass(class_name=short)
        equal(c.name, name, "name")
        equal(c.origin, S.api.SchedClass.ORIGIN_BUILTIN, "origin")
        check(c.HasField("weight") and c.HasField("slice") and c.HasField("guarantee_cpus"), "fields are absent")
    fails(Code.NOT_FOUND, lambda: S.client.GetClass(class_name="nothing"), reason="CLASS_NOT_FOUND")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.GetClass(class_name="No"), reason="INVALID_NAME", field="class_name")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.GetClass(class_name="a\nb"), field="class_name")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.GetClass(class_name="a" * 300), field="class_name")


@test
def upsert_class_creates_and_updates():
    weight = wrappers_pb2.UInt32Value
    made = S.client.UpsertClass(sched_class=our_class("up", weight=weight(value=200)), must_not_exist=True)
    equal(made.weight.value, 200, "weight")
    equal(made.origin, S.api.SchedClass.ORIGIN_API, "origin")
    fails(Code.ALREADY_EXISTS, lambda: S.client.UpsertClass(sched_class=our_class("up"), must_not_exist=True))
    fails(Code.NOT_FOUND, lambda: S.client.UpsertClass(sched_class=our_class("none"), must_exist=True))
    mask = field_mask_pb2.FieldMask(paths=["weight"])
    changed = S.client.UpsertClass(sched_class=our_class("up", weight=weight(value=300)), update_mask=mask,
                                   etag=made.etag)
    equal(changed.weight.value, 300, "weight")
    check(changed.etag != made.etag, "the etag did not change")
    check(changed.config_generation > made.config_generation, "the generation did not rise")
    fails(Code.ABORTED, lambda: S.client.UpsertClass(sched_class=our_class("up"), etag=made.etag))
    fails(Code.INVALID_ARGUMENT, lambda: S.client.UpsertClass(
        sched_class=our_class("up"), update_mask=field_mask_pb2.FieldMask(paths=["etag"])), field="update_mask")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.UpsertClass(sched_class=our_class("up", weight=weight(value=0))))
    fails(Code.INVALID_ARGUMENT, lambda: S.client.UpsertClass(
        sched_class=S.api.SchedClass(name=S.prefix + "up", kind=S.api.SchedClass.KIND_BEST_EFFORT)))
    fails(Code.INVALID_ARGUMENT, lambda: S.client.UpsertClass(sched_class=our_class("up", policy="eevdf")))


@test
def validate_only_changes_nothing():
    before = snapshot()
    S.client.UpsertClass(change=change(validate_only=True), sched_class=our_class("dry"))
    S.client.SetClass(change=change(validate_only=True), target=path_target(), class_name="be")
    equal(snapshot(), before, "state")


@test
def a_request_id_makes_a_call_idempotent():
    request_id = str(uuid.uuid4())
    ask = S.api.UpsertClassRequest(change=change(request_id=request_id), sched_class=our_class("once"),
                                   must_not_exist=True)
    first = S.client.UpsertClass(ask)
    second = S.client.UpsertClass(ask)
    equal(second.etag, first.etag, "etag")
    other = S.api.UpsertClassRequest(change=change(request_id=request_id), sched_class=our_class("twice"))
    fails(Code.INVALID_ARGUMENT, lambda: S.client.UpsertClass(other), reason="REQUEST_ID_REUSED")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.UpsertClass(
        change=change(request_id="no uuid"), sched_class=our_class("twice")), field="change.request_id")


@test
def a_stale_generation_is_refused():
    now = S.client.GetStatus().config_generation
    stale = change(expected_config_generation=wrappers_pb2.UInt64Value(value=now + 100))
    before = snapshot()
    fails(Code.ABORTED, lambda: S.client.UpsertClass(change=stale, sched_class=our_class("stale")),
          reason="GENERATION_STALE")
    equal(snapshot(), before, "state")
    fresh = change(expected_config_generation=wrappers_pb2.UInt64Value(value=now))
    S.client.UpsertClass(change=fresh, sched_class=our_class("fresh"))


@test
def revert_class_drops_overrides():
    before = S.client.GetClass(class_name="be")
    weight = wrappers_pb2.UInt32Value(value=before.weight.value + 7)
    changed = S.client.UpsertClass(sched_class=S.api.SchedClass(name="be", weight=weight))
    equal(changed.weight.value, weight.value, "weight")
    check("weight" in changed.overridden_fields, f"overridden_fields {changed.overridden_fields}")
    reverted = S.client.RevertClass(class_name="be")
    equal(reverted.weight.value, before.weight.value, "weight")
    equal(list(reverted.overridden_fields), [], "overridden_fields")


@test
def the_17th_class_is_refused():
    made = []
    try:
        for i in range(17):
            ask = lambda n=i: S.client.UpsertClass(sched_class=our_class(f"many-{n}"))
            if len(S.client.ListClasses(page_size=1000).classes) < 16:
                made.append(ask().name)
            else:
                fails(Code.RESOURCE_EXHAUSTED, ask, reason="TOO_MANY_CLASSES")
                return
        raise AssertionError("more than 16 classes")
    finally:
        for name in made:
            S.client.DeleteClass(class_name=name)


# ---------- assignments ----------

@test
def set_class_by_path_is_explained_and_listed():
    order = S.client.SetClass(target=path_target(), class_name="be", change=change(reason="a test"))
    equal(order.class_name, "best-effort", "class_name")
    equal(order.target.cgroup_path, S.cgroup, "target")
    equal(order.actor.uid.value, os.geteuid(), "actor.uid")
    equal(order.actor.pid, os.getpid(), "actor.pid")
    equal(order.reason, "a test", "reason")
    check(order.affected_total >= 1, "nothing was affected")
    decision = S.client.ExplainTarget(target=path_target()).decisions[0]
    equal(decision.class_name, "best-effort", "class")
    equal(decision.winner.source, "call", "source")
    child = S.client.ExplainTarget(target=path_target(S.cgroup + "/child")).decisions[0]
    equal(child.class_name, "best-effort", "class of the child")
    check(order.assignment_id in [a.assignment_id for a in S.client.ListAssignments().assignments], "not listed")
    mine = [d.cgroup_path for d in S.client.ListCgroups(class_name="be", page_size=1000).decisions]
    check(S.cgroup in mine, f"{S.cgroup} is not among {mine}")
    gone = S.client.UnsetClass(assignment_id=order.assignment_id)
    equal(gone.assignment_id, order.assignment_id, "assignment_id")
    equal(S.client.ExplainTarget(target=path_target()).decisions[0].class_name, "normal", "class afterwards")
    fails(Code.NOT_FOUND, lambda: S.client.UnsetClass(assignment_id=order.assignment_id))


@test
def set_class_by_id_and_by_process():
    cgroup_id = S.client.ExplainTarget(target=path_target()).decisions[0].cgroup_id
    check(cgroup_id, "no cgroup_id")
    by_id = S.api.Target(cgroup_id=cgroup_id)
    order = S.client.SetClass(target=by_id, class_name="lc")
    equal(order.cgroup_id, cgroup_id, "cgroup_id")
    S.client.UnsetClass(target=by_id)
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        with open(os.path.join(S.cgroup_dir, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write(str(sleeper.pid))
        process = S.api.Target(process=S.api.PidTarget(pid=sleeper.pid))
        order = S.client.SetClass(target=process, class_name="lc", ttl={"seconds": 60})
        equal(order.cgroup_id, cgroup_id, "cgroup_id of the process")
        check(order.HasField("expire_time"), "no expire_time")
        wrong = S.api.Target(process=S.api.PidTarget(pid=sleeper.pid, start_time_ticks=1))
        fails(Code.NOT_FOUND, lambda: S.client.SetClass(target=wrong, class_name="lc"))
        S.client.UnsetClass(target=process)
    finally:
        sleeper.kill()
        sleeper.wait()


@test
def explain_self_names_our_cgroup():
    with open("/proc/self/cgroup", encoding="utf-8") as f:
        own = [line.split("::", 1)[1].strip() for line in f if line.startswith("0::")][0]
    target = S.api.Target()
    target.self.SetInParent()
    equal(S.client.ExplainTarget(target=target).decisions[0].cgroup_path, own, "cgroup_path")


@test
def the_nearer_call_wins():
    child = path_target(S.cgroup + "/child")
    S.client.SetClass(target=child, class_name="lc")
    S.client.SetClass(target=path_target(), class_name="be", whole_subtree=True)
    decision = S.client.ExplainTarget(target=child).decisions[0]
    equal(decision.class_name, "latency-critical", "class of the child")
    S.client.UnsetClass(target=child)
    equal(S.client.ExplainTarget(target=child).decisions[0].class_name, "best-effort", "class without its own call")
    S.client.UnsetClass(target=path_target())


@test
def wrong_targets_are_refused():
    before = snapshot()
    set_class = S.client.SetClass
    fails(Code.NOT_FOUND, lambda: set_class(target=path_target(), class_name="nothing"), reason="CLASS_NOT_FOUND")
    fails(Code.NOT_FOUND, lambda: set_class(target=path_target("/no/such"), class_name="be"),
          reason="CGROUP_NOT_FOUND")
    fails(Code.NOT_FOUND, lambda: set_class(target=S.api.Target(cgroup_id=2**63), class_name="be"))
    fails(Code.NOT_FOUND, lambda: set_class(target=S.api.Target(process=S.api.PidTarget(pid=2**22 + 5)),
                                            class_name="be"))
    for path in ("relative", "/a/", "/a/../b", "//", "/a\nb", "/" + "a" * 5000, "/" + "a" * 300):
        fails(Code.INVALID_ARGUMENT, lambda p=path: set_class(target=path_target(p), class_name="be"),
              reason="INVALID_PATH", field="target.cgroup_path")
    fails(Code.INVALID_ARGUMENT, lambda: set_class(class_name="be"), reason="TARGET_MISSING", field="target")
    fails(Code.INVALID_ARGUMENT, lambda: set_class(target=path_target(), class_name="be", ttl={"seconds": -1}),
          field="ttl")
    fails(Code.INVALID_ARGUMENT, lambda: set_class(target=path_target(), class_name="be", lifetime=77),
          field="lifetime")
    fails(Code.INVALID_ARGUMENT, lambda: set_class(target=path_target(), class_name="be",
                                                   change=change(reason="r" * 257)), field="change.reason")
    fails(Code.FAILED_PRECONDITION, lambda: set_class(target=path_target("/"), class_name="be"),
          reason="CGROUP_PROTECTED")
    pod = S.api.Target(pod=S.api.PodTarget(namespace="shop", name="cart-0"))
    fails(Code.UNIMPLEMENTED, lambda: set_class(target=pod, class_name="be"))
    equal(snapshot(), before, "state")


@test
def delete_class_refuses_one_in_use():
    name = S.client.UpsertClass(sched_class=our_class("used")).name
    S.client.SetClass(target=path_target(), class_name=name)
    fails(Code.FAILED_PRECONDITION, lambda: S.client.DeleteClass(class_name=name), reason="CLASS_IN_USE")
    S.client.UnsetClass(target=path_target())
    check(S.client.DeleteClass(class_name=name).config_generation, "no generation")
    fails(Code.NOT_FOUND, lambda: S.client.DeleteClass(class_name=name))
    fails(Code.FAILED_PRECONDITION, lambda: S.client.DeleteClass(class_name="normal"))


@test
def list_cgroups_pages():
    whole = [d.cgroup_id for d in S.client.ListCgroups(page_size=1000).decisions]
    token, paged = "", []
    while True:
        page = S.client.ListCgroups(page_size=7, page_token=token)
        paged += [d.cgroup_id for d in page.decisions]
        token = page.next_page_token
        if not token:
            break
    check(set(paged) >= set(whole[:7]), "pages differ from the list")
    equal(len(paged), len(set(paged)), "cgroups over pages")
    fails(Code.NOT_FOUND, lambda: S.client.ListCgroups(class_name="nothing"))


# ---------- bad requests ----------

def varint(n):
    out = b""
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def nested(depth):
    data = b""
    for _ in range(depth):
        data = b"\x12" + varint(len(data)) + data
    return data


@test
def bad_bytes_are_refused_and_change_nothing():
    before = snapshot()
    for method in S.client.service.methods_by_name:
        path = f"/{SERVICE}/{method}"
        fails(Code.INVALID_ARGUMENT, lambda p=path: S.client.raw(p, b"\xff\xff\xff"), reason="MALFORMED_REQUEST")
        fails(Code.RESOURCE_EXHAUSTED, lambda p=path: S.client.raw(p, b"\x78\x01" * 100000), reason="REQUEST_TOO_BIG")
        fails(Code.RESOURCE_EXHAUSTED, lambda p=path: S.client.raw(p, b"\x00" * 300000))
    for data in (nested(9000), nested(60)):
        try:
            S.client.raw(f"/{SERVICE}/SetClass", data)
            raise AssertionError("a nested request was accepted")
        except grpc.RpcError as error:
            check(error.code() in (Code.INVALID_ARGUMENT, Code.RESOURCE_EXHAUSTED), f"status {error.code()}")
    get_class = f"/{SERVICE}/GetClass"
    fails(Code.INVALID_ARGUMENT, lambda: S.client.raw(get_class, b"\x0a\x02\xc3\x28"), field="class_name")
    fails(Code.INVALID_ARGUMENT, lambda: S.client.raw(get_class, b"\x0a\x05lc\x00xy"), field="class_name")
    fails(Code.UNIMPLEMENTED, lambda: S.client.raw(f"/{SERVICE}/Nothing", b""), reason="UNKNOWN_METHOD")
    fails(Code.UNIMPLEMENTED, lambda: S.client.raw("/a.B/C", b""), reason="UNKNOWN_METHOD")
    equal(snapshot(), before, "state")


@test
def compressed_requests_are_refused():
    body = S.api.SetClassRequest(target=path_target("/" + "a" * 200), class_name="be").SerializeToString() * 20
    fails(Code.UNIMPLEMENTED, lambda: S.client.raw(f"/{SERVICE}/SetClass", body, compression=grpc.Compression.Gzip))


# ---------- events ----------

def next_event(stream, type_name):
    event = next(stream)
    equal(S.api.Event.Type.Name(event.type), "TYPE_" + type_name, "type")
    return event


@test
def watch_events_follows_a_class():
    name = S.prefix + "seen"
    stream = S.client.WatchEvents(class_names=[name])
    begin = next_event(stream, "BOOKMARK")
    equal(begin.epoch, S.client.GetStatus().epoch, "epoch")
    request_id = str(uuid.uuid4())
    S.client.UpsertClass(change=change(request_id=request_id), sched_class=our_class("seen"))
    made = next_event(stream, "CLASS_CHANGED")
    equal(made.sched_class.name, name, "name")
    equal(made.actor.pid, os.getpid(), "actor.pid")
    equal(made.actor.source, "api", "actor.source")
    equal(made.request_id, request_id, "request_id")
    check(made.sequence > begin.sequence, f"sequence {made.sequence} after {begin.sequence}")
    S.client.SetClass(target=path_target(), class_name=name)
    decided = next_event(stream, "DECISION_CHANGED")
    equal(decided.decision.cgroup_path, S.cgroup, "cgroup_path")
    equal(decided.decision.winner.source, "call", "source")
    equal(next_event(stream, "DECISION_CHANGED").decision.cgroup_path, S.cgroup + "/child", "cgroup_path")
    stream.cancel()
    S.client.UnsetClass(target=path_target())
    S.client.DeleteClass(class_name=name)
    after = wrappers_pb2.UInt64Value(value=decided.sequence)
    stream = S.client.WatchEvents(class_names=[name], epoch=decided.epoch, after_sequence=after)
    types = [S.api.Event.Type.Name(next(stream).type) for _ in range(5)]
    stream.cancel()
    equal(types, ["TYPE_DECISION_CHANGED"] * 3 + ["TYPE_CLASS_DELETED", "TYPE_BOOKMARK"], "events after resuming")


@test
def watch_events_begins_with_the_state():
    order = S.client.SetClass(target=path_target(), class_name="be")
    stream = S.client.WatchEvents(send_initial_state=True)
    seen = []
    for event in stream:
        seen.append(event)
        if event.type == S.api.Event.TYPE_INITIAL_STATE_END:
            break
    stream.cancel()
    classes = {e.sched_class.name for e in seen if e.type == S.api.Event.TYPE_CLASS_CHANGED}
    check({"latency-critical", "normal", "best-effort"} <= classes, f"classes {classes}")
    orders = {e.decision.winner.value: e.decision.cgroup_path for e in seen
              if e.type == S.api.Event.TYPE_DECISION_CHANGED}
    equal(orders.get(order.assignment_id), S.cgroup, "cgroup of the assignment")
    S.client.UnsetClass(assignment_id=order.assignment_id)


@test
def watch_events_refuses():
    value = wrappers_pb2.UInt64Value
    watch = S.client.WatchEvents
    now = S.client.GetStatus().epoch
    fails(Code.INVALID_ARGUMENT, lambda: next(watch(types=[0])), field="types")
    fails(Code.INVALID_ARGUMENT, lambda: next(watch(types=[99])), field="types")
    fails(Code.INVALID_ARGUMENT, lambda: next(watch(class_names=["No"])), field="class_names")
    fails(Code.INVALID_ARGUMENT, lambda: next(watch(epoch=now)), field="after_sequence")
    fails(Code.INVALID_ARGUMENT, lambda: next(watch(after_sequence=value(value=1))), field="epoch")
    fails(Code.INVALID_ARGUMENT, lambda: next(watch(bookmark_interval={"nanos": 1})), field="bookmark_interval")
    fails(Code.OUT_OF_RANGE, lambda: next(watch(epoch="0" * 16, after_sequence=value(value=1))),
          reason="EVENTS_GONE")
    fails(Code.OUT_OF_RANGE, lambda: next(watch(epoch=now, after_sequence=value(value=2**60))),
          reason="EVENTS_GONE")


# ---------- health and reflection ----------

def health_call(method, request, reply, many=False):
    make = S.client.channel.unary_stream if many else S.client.channel.unary_unary
    return make(f"/grpc.health.v1.Health/{method}", request_serializer=request.SerializeToString,
                response_deserializer=reply.FromString)


@test
def health_answers():
    h = S.health
    ask = health_call("Check", h.HealthCheckRequest, h.HealthCheckResponse)
    equal(ask(h.HealthCheckRequest(), timeout=TIMEOUT).status, h.HealthCheckResponse.SERVING, "overall")
    state = ask(h.HealthCheckRequest(service=SERVICE), timeout=TIMEOUT).status
    check(state in (h.HealthCheckResponse.SERVING, h.HealthCheckResponse.NOT_SERVING), f"{SERVICE}: {state}")
    fails(Code.NOT_FOUND, lambda: ask(h.HealthCheckRequest(service="x"), timeout=TIMEOUT), reason="UNKNOWN_SERVICE")
    both = health_call("List", h.HealthListRequest, h.HealthListResponse)(h.HealthListRequest(), timeout=TIMEOUT)
    equal(sorted(both.statuses), ["", SERVICE], "services")
    watch = health_call("Watch", h.HealthCheckRequest, h.HealthCheckResponse, many=True)
    for service, want in (("", h.HealthCheckResponse.SERVING), (SERVICE, state),
                          ("x", h.HealthCheckResponse.SERVICE_UNKNOWN)):
        stream = watch(h.HealthCheckRequest(service=service), timeout=TIMEOUT)
        equal(next(stream).status, want, f"Watch({service!r})")
        check(stream.is_active(), f"Watch({service!r}) ended by itself")
        stream.cancel()


def ask_reflection(version, module, *requests):
    call = S.client.channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=module.ServerReflectionRequest.SerializeToString,
        response_deserializer=module.ServerReflectionResponse.FromString)
    return list(call(iter([module.ServerReflectionRequest(**r) for r in requests]), timeout=TIMEOUT))


@test
def reflection_is_enough_to_call():
    for version, module in (("v1", S.refl), ("v1alpha", S.refl_alpha)):
        services, symbol, missing, extension = ask_reflection(
            version, module, {"list_services": "*"}, {"file_containing_symbol": SERVICE + ".GetStatus"},
            {"file_containing_symbol": "no.such.Thing"},
            {"file_containing_extension": {"containing_type": "x", "extension_number": 1}})
        names = {s.name for s in services.list_services_response.service}
        check({SERVICE, "grpc.health.v1.Health", f"grpc.reflection.{version}.ServerReflection"} <= names, f"{names}")
        equal(missing.error_response.error_code, Code.NOT_FOUND.value[0], "unknown symbol")
        equal(extension.error_response.error_code, Code.UNIMPLEMENTED.value[0], "extension")
        pool = descriptor_pool.DescriptorPool()
        files = [descriptor_pb2.FileDescriptorProto.FromString(b)
                 for b in symbol.file_descriptor_response.file_descriptor_proto]
        while files:
            ready = [f for f in files if not any(d in {g.name for g in files} for d in f.dependency)]
            check(ready, "files depend on each other")
            for f in ready:
                pool.Add(f)
                files.remove(f)
        factory = MessageFactory(pool)
        method = pool.FindServiceByName(SERVICE).methods_by_name["GetStatus"]
        reply = factory.GetPrototype(method.output_type)
        node = reply.FromString(S.client.raw(f"/{SERVICE}/GetStatus", b""))
        equal(node.kernel, os.uname().release, "kernel read without any .proto")


@test
def reflection_finds_files_and_nested_types():
    for ask in ({"file_by_filename": "schedd/v1alpha1/scheduler.proto"},
                {"file_containing_symbol": "schedd.v1alpha1.SchedClass.Kind"},
                {"file_containing_symbol": "schedd.v1alpha1.Decision.Reason"},
                {"file_containing_symbol": "schedd.v1alpha1.Lifetime"}):
        answer = ask_reflection("v1", S.refl, ask)[0]
        first = descriptor_pb2.FileDescriptorProto.FromString(answer.file_descriptor_response.file_descriptor_proto[0])
        equal(first.name, "schedd/v1alpha1/scheduler.proto", f"file of {ask}")


# ---------- connections ----------

@test
def many_calls_on_many_connections():
    channels = [grpc.insecure_channel("unix:" + ARGS.socket, options=[("grpc.use_local_subchannel_pool", 1)])
                for _ in range(20)]
    futures = []
    for channel in channels:
        call = channel.unary_unary(f"/{SERVICE}/GetStatus", request_serializer=lambda b: b,
                                   response_deserializer=S.api.NodeStatus.FromString)
        futures += [call.future(b"", timeout=TIMEOUT) for _ in range(20)]
    epochs = {f.result().epoch for f in futures}
    equal(len(epochs), 1, "epochs")
    for channel in channels:
        channel.close()


@test
def every_call_was_made():
    equal(sorted(S.client.called), sorted(S.client.service.methods_by_name), "methods")


# ---------- run ----------

def find_cgroup2():
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        for line in f:
            left, right = line.split(" - ", 1)
            if right.split()[0] == "cgroup2" and left.split()[3] == "/":
                return left.split()[4]
    raise SystemExit("1..0 # SKIP no cgroup2 mount")


def make_cgroup():
    mount = find_cgroup2()
    name = f"schedd-foreign-{os.getpid()}"
    S.cgroup_dir = os.path.join(mount, name)
    S.cgroup = "/" + name
    os.mkdir(S.cgroup_dir)
    os.mkdir(os.path.join(S.cgroup_dir, "child"))


def clean_up():
    for name in ("child", ""):
        for _ in range(100):
            try:
                os.rmdir(os.path.join(S.cgroup_dir, name))
                break
            except OSError:
                time.sleep(0.05)  # a process that ended a moment ago
    try:
        for order in S.client.ListAssignments(page_size=1000).assignments:
            if order.target.cgroup_path.startswith(S.cgroup):
                S.client.UnsetClass(assignment_id=order.assignment_id)
        for c in S.client.ListClasses(page_size=1000).classes:
            if c.name.startswith(S.prefix):
                S.client.DeleteClass(class_name=c.name)
    except grpc.RpcError as error:
        print(f"# clean-up: {error.code()} {error.details()}")


def main():
    with tempfile.TemporaryDirectory(prefix="schedd-foreign-") as out_dir:
        S.api, S.health, S.refl, S.refl_alpha, S.rpc, S.details = load_stubs(ARGS.proto, out_dir)
    S.client = Client(ARGS.socket, S.api)
    make_cgroup()
    failed = 0
    print(f"TAP version 13\n1..{len(TESTS)}")
    try:
        for i, fn in enumerate(TESTS, 1):
            try:
                fn()
                print(f"ok {i} - {fn.__name__}", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {i} - {fn.__name__}")
                for line in traceback.format_exc().splitlines():
                    print("# " + line, flush=True)
    finally:
        clean_up()
        S.client.channel.close()
    return 1 if failed else 0


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="drives every call of schedd with Debian's python3-grpcio")
    parser.add_argument("--socket", default="/run/schedd/schedd.sock")
    parser.add_argument("--proto", default=os.path.join(here, "..", "..", "proto"))
    ARGS = parser.parse_args()
    sys.exit(main())
