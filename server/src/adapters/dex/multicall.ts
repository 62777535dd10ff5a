import type { Hex } from 'viem'
import { InvalidReply } from '../chains/evm/replies.ts'
import { toWord } from './abi-words.ts'

/*
 * Encoded without a library: a network takes a hundred thousand calls, and a library's objects would dominate memory and time.
 * A dynamic array is its length, then the offset of each entry, then the entries.
 */

export type ContractCall = Readonly<{ to: string; calldata: Hex }>

/** Calls of Multicall3 on one network. */
export type Multicall = Readonly<{
  /** The parameters of eth_call for all calls together. */
  encode(calls: readonly ContractCall[]): Readonly<{ to: string; data: Hex }>
  /** The result of each call; null for a failed one. Null altogether if a call may have failed for lack of gas. */
  decode(answer: Hex, count: number): readonly (Hex | null)[] | null
}>

/** aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool success, bytes returnData)[]) */
const AGGREGATE = '0x82ad56cb'

export function createMulticall(multicall3: string): Multicall {
  const check = gasCheck(multicall3)
  return {
    encode: (calls) => ({ to: multicall3, data: encodeCalls([...calls, check]) }),
    decode(answer, count) {
      const results = resultsOf(answer, count + 1)
      return isChecked(results[count]) ? results.slice(0, count).map(toAnswer) : null
    },
  }
}

function encodeCalls(calls: readonly ContractCall[]): Hex {
  const offsets: string[] = []
  const entries: string[] = []
  let offset = 32 * calls.length
  for (const call of calls) {
    const entry = entryOf(call, true)
    offsets.push(toWord(offset))
    entries.push(entry)
    offset += entry.length / 2
  }
  return `${AGGREGATE}${toWord(32)}${toWord(calls.length)}${offsets.join('')}${entries.join('')}`
}

function entryOf({ to, calldata }: ContractCall, mayFail: boolean): string {
  const length = calldata.length / 2 - 1
  const padded = calldata.slice(2).padEnd(64 * Math.ceil(length / 32), '0')
  return `${toWord(BigInt(to))}${toWord(mayFail ? 1 : 0)}${toWord(96)}${toWord(length)}${padded}`
}

/** 28 × 28 calls use about 1.3 million gas. */
const REPEATED = 28

/**
 * The last call of a batch. It uses some gas and then reverts with a message; without the gas it reverts without one. A call that lacks
 * gas has used all but a 64th of what was left, and but another 64th for each call around it. So too little is left for the check after
 * one that needs up to 19 million gas four calls deep, or 5 million gas fourteen calls deep. Multicall3 has no function that returns the gas
 * left.
 */
function gasCheck(multicall3: string): ContractCall {
  // Multicall3 reverts without a selector.
  const failing: ContractCall = { to: multicall3, calldata: '0x' }
  const repeat = (call: ContractCall): ContractCall => {
    const [repeated, last] = [entryOf(call, true), entryOf(failing, false)]
    const start = 32 * (REPEATED + 1)
    // Calls may share an entry, so that the size of the check does not grow with its gas.
    const offsets = `${toWord(start).repeat(REPEATED)}${toWord(start + repeated.length / 2)}`
    return { to: multicall3, calldata: `${AGGREGATE}${toWord(32)}${toWord(REPEATED + 1)}${offsets}${repeated}${last}` }
  }
  return repeat(repeat(failing))
}

type Result = Readonly<{ ok: boolean; data: Hex }>

function resultsOf(answer: Hex, count: number): readonly Result[] {
  const sizeAt = (at: number): number => {
    const word = answer.slice(at, at + 64)
    if (!/^0{52}[0-9a-f]{12}$/.test(word)) throw new InvalidReply('invalid Multicall3 reply')
    return Number.parseInt(word, 16)
  }
  // In hex characters, after 0x and the offset of the array.
  const list = 2 + 64
  if (sizeAt(list) !== count) throw new InvalidReply('Multicall3 returned a wrong number of results')
  const first = list + 64
  return Array.from({ length: count }, (_, index) => {
    const entry = first + 2 * sizeAt(first + 64 * index)
    const start = entry + 3 * 64
    return { ok: sizeAt(entry) === 1, data: `0x${answer.slice(start, start + 2 * sizeAt(entry + 128))}` }
  })
}

const isChecked = (result: Result | undefined): boolean => result !== undefined && result.data !== '0x'
const toAnswer = ({ ok, data }: Result): Hex | null => (ok && data !== '0x' ? data : null)
