/**
 * What the kernel asks before each system call of the tests, as a program of classic BPF: the calls
 * for keyrings are unknown here. Namespaces do not part keyrings, and those of the person's session
 * would be the tests' own.
 */
export function callFilter(): Buffer {
  const blocks = KEY_CALLS.map(({ first }) => keyCallsFrom(first))
  const jumps = KEY_CALLS.map(({ architecture }, index) => {
    // Over the comparisons that are left, the answer for other architectures, and blocks before.
    const rest = KEY_CALLS.length - 1 - index
    return instruction(JUMP_IF_EQUAL, architecture, rest + 1 + index * BLOCK_LENGTH)
  })
  const program = [instruction(LOAD, ARCHITECTURE_AT), ...jumps, ALLOW, ...blocks.flat()]
  return Buffer.concat(program)
}

/** add_key, request_key and keyctl follow each other everywhere. */
const KEY_CALLS = [
  { architecture: 0xc000_003e, first: 248 }, // x86-64
  { architecture: 0x4000_0003, first: 286 }, // x86, which an x86-64 machine runs too
  { architecture: 0xc000_00b7, first: 217 }, // aarch64
  { architecture: 0x4000_0028, first: 309 }, // arm
]

const LOAD = 0x20
const AND = 0x54
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_GREATER = 0x25
const JUMP_IF_AT_LEAST = 0x35
const RETURN = 0x06

/** In what the kernel shows of a call. */
const NUMBER_AT = 0
const ARCHITECTURE_AT = 4
/** The second set of calls of x86-64 has the same numbers with one bit more. */
const WITHOUT_X32_BIT = 0xbfff_ffff
const ENOSYS = 38

const ALLOW = instruction(RETURN, 0x7fff_0000)
const UNKNOWN = instruction(RETURN, 0x0005_0000 + ENOSYS)

const BLOCK_LENGTH = 6

function keyCallsFrom(first: number): Buffer[] {
  return [
    instruction(LOAD, NUMBER_AT),
    instruction(AND, WITHOUT_X32_BIT),
    instruction(JUMP_IF_AT_LEAST, first, 0, 1),
    instruction(JUMP_IF_GREATER, first + 2, 0, 1),
    ALLOW,
    UNKNOWN,
  ]
}

/** One of `struct sock_filter`; jumps are over so many instructions. */
function instruction(code: number, operand: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(operand, 4)
  return bytes
}
