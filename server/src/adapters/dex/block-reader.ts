import type { Hex } from 'viem'
import { bytes, InvalidReply } from '../chains/evm/replies.ts'
import { isRevert, type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { toWord } from './abi-words.ts'
import { headerOf } from './headers.ts'

export type ContractCall = Readonly<{ to: string; calldata: Hex }>

/** Reads the state of contracts after one block. */
export type BlockReader = Readonly<{
  /** The result of each call; null if it reverts or the address has no code. Throws if the node does not know the block. */
  read(blockHash: string, calls: readonly ContractCall[]): Promise<readonly (Hex | null)[]>
  /**
   * The revert data of each call if the caller has this code; null if the call does not revert or the node does not support
   * state overrides.
   */
  revertsOf(blockHash: string, code: Hex, calls: readonly ContractCall[]): Promise<readonly (Hex | null)[]>
  /** The timestamp of the block, Unix seconds. */
  minedAt(blockHash: string): Promise<number>
  /** A word of a contract's storage. */
  storageAt(blockHash: string, address: string, slot: number): Promise<bigint>
}>

/** aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool success, bytes returnData)[]) */
const AGGREGATE = '0x82ad56cb'
/** Calls in one eth_call: about twelve million gas of storage reads. */
const PER_CALL = 400
/** Limit of concurrent calls to one node. */
const CALLS_AT_ONCE = 200

/** Uses Multicall3 if the network has it, JSON batches otherwise. `currentRpc`: the node for the next read. */
export function createBlockReader(currentRpc: () => Rpc, multicall3: string | null): BlockReader {
  return {
    async read(blockHash, calls) {
      const rpc = currentRpc()
      const results: (Hex | null)[] = []
      const size = multicall3 === null ? CALLS_AT_ONCE : PER_CALL
      for (let start = 0; start < calls.length; start += size) {
        const part = calls.slice(start, start + size)
        const answers = await (multicall3 === null
          ? Promise.all(part.map((call) => readOne(rpc, blockHash, call)))
          : readByMulticall(rpc, multicall3, blockHash, part))
        results.push(...answers)
      }
      return results
    },
    revertsOf: (blockHash, code, calls) =>
      Promise.all(calls.map((call) => revertOf(currentRpc(), blockHash, code, call))),
    minedAt: async (blockHash) => (await headerOf(currentRpc(), blockHash)).minedAtMs / 1000,
    storageAt: async (blockHash, address, slot) =>
      BigInt(await currentRpc().ask('eth_getStorageAt', [address, `0x${slot.toString(16)}`, { blockHash }], bytes)),
  }
}

type Answers = readonly (Hex | null)[]

/** Makes all calls at once; returns the answers of each list. */
export async function readLists(
  reader: Pick<BlockReader, 'read'>,
  at: string,
  lists: readonly (readonly ContractCall[])[],
): Promise<readonly Answers[]> {
  const answers = await reader.read(at, lists.flat())
  let end = 0
  return lists.map(({ length }) => {
    end += length
    return answers.slice(end - length, end)
  })
}

/** Sends the same calls to each contract; returns one row of answers per contract. */
export function readEach(
  reader: Pick<BlockReader, 'read'>,
  at: string,
  contracts: readonly Readonly<{ address: string }>[],
  calls: readonly Hex[],
): Promise<readonly Answers[]> {
  const lists = contracts.map(({ address: to }) => calls.map((calldata) => ({ to, calldata })))
  return readLists(reader, at, lists)
}

async function readByMulticall(rpc: Rpc, multicall3: string, blockHash: string, calls: readonly ContractCall[]) {
  const answer = await rpc.ask('eth_call', [{ to: multicall3, data: encodeCalls(calls) }, { blockHash }], bytes)
  return decodeResults(answer, calls.length)
}

/*
 * Encoded without a library: a network takes a hundred thousand calls, and a library's objects would dominate memory and time.
 * A dynamic array is its length, then the offset of each entry, then the entries.
 */

function encodeCalls(calls: readonly ContractCall[]): Hex {
  const offsets: string[] = []
  const entries: string[] = []
  let offset = 32 * calls.length
  for (const { to, calldata } of calls) {
    const length = calldata.length / 2 - 1
    const padded = calldata.slice(2).padEnd(64 * Math.ceil(length / 32), '0')
    const entry = `${toWord(BigInt(to))}${toWord(1)}${toWord(96)}${toWord(length)}${padded}`
    offsets.push(toWord(offset))
    entries.push(entry)
    offset += entry.length / 2
  }
  return `${AGGREGATE}${toWord(32)}${toWord(calls.length)}${offsets.join('')}${entries.join('')}`
}

/** Null for a failed call. */
function decodeResults(answer: Hex, count: number): (Hex | null)[] {
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
    const result: Hex = `0x${answer.slice(start, start + 2 * sizeAt(entry + 128))}`
    return sizeAt(entry) === 1 ? orNull(result) : null
  })
}

async function readOne(rpc: Rpc, blockHash: string, { to, calldata }: ContractCall): Promise<Hex | null> {
  try {
    const [answer] = await rpc.askMany([{ method: 'eth_call', params: [{ to, data: calldata }, { blockHash }] }], bytes)
    return orNull(answer)
  } catch (error) {
    const refusal = refusalOf(error)
    // Any other refusal is no result of the contract.
    if (refusal !== null && isRevert(refusal)) return null
    throw error
  }
}

/** An address without code or balance. */
const CALLER = '0x7377617079617264000000000000000000000002'

async function revertOf(rpc: Rpc, blockHash: string, code: Hex, { to, calldata }: ContractCall): Promise<Hex | null> {
  try {
    const params = [{ from: CALLER, to, data: calldata }, { blockHash }, { [CALLER]: { code } }]
    await rpc.askMany([{ method: 'eth_call', params }], bytes)
    return null
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === null) throw error
    return refusal.reverted
  }
}

const orNull = (answer: Hex | undefined): Hex | null => (answer === undefined || answer === '0x' ? null : answer)
