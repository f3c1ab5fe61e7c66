"""Compiles a seccomp profile in Docker's format for this machine, as a container without capabilities
gets it. Usage: seccomp_filter.py PROFILE.json FILTER.bpf; needs Debian's python3-seccomp."""

import json
import platform
import sys

import seccomp

MACHINES = {"x86_64": ("amd64", "SCMP_ARCH_X86_64"), "aarch64": ("arm64", "SCMP_ARCH_AARCH64")}
COMPARISONS = {
    "SCMP_CMP_EQ": seccomp.EQ,
    "SCMP_CMP_LT": seccomp.LT,
    "SCMP_CMP_GT": seccomp.GT,
    "SCMP_CMP_MASKED_EQ": seccomp.MASKED_EQ,
}


def action_of(name, errno):
    return seccomp.ALLOW if name == "SCMP_ACT_ALLOW" else seccomp.ERRNO(errno)


def conditions_of(rule):
    return [
        seccomp.Arg(arg["index"], COMPARISONS[arg["op"]], arg["value"], arg.get("valueTwo", 0))
        for arg in rule.get("args", [])
    ]


def add(filter, action, name, conditions):
    try:
        filter.add_rule(action, name, *conditions)
    except RuntimeError:
        # Not known to this libseccomp: left to the default action, as runc leaves it.
        print(f"not known here: {name}")


def main(profile_file, filter_file):
    with open(profile_file) as file:
        profile = json.load(file)
    machine, architecture = MACHINES[platform.machine()]
    filter = seccomp.SyscallFilter(action_of(profile["defaultAction"], profile["defaultErrnoRet"]))
    for each in profile["archMap"]:
        if each["architecture"] == architecture:
            for name in each["subArchitectures"]:
                filter.add_arch(getattr(seccomp.Arch, name.removeprefix("SCMP_ARCH_")))
    for rule in profile["syscalls"]:
        if machine not in rule.get("includes", {}).get("arches", [machine]):
            continue
        for name in rule["names"]:
            action = action_of(rule["action"], rule.get("errnoRet", 1))
            add(filter, action, name, conditions_of(rule))
    with open(filter_file, "wb") as file:
        filter.export_bpf(file)


main(*sys.argv[1:])
