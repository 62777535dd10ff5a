import type { Hex } from 'viem'
import { bytes, InvalidReply } from '../chains/evm/replies.ts'
import { type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { headerOf } from './headers.ts'
import { toWord } from './words.ts'

export type ContractCall = Readonly<{ to: string; calldata: Hex }>

/** Reads contracts as they are after one block. */
export type BlockReader = Readonly<{
  /** What each call gives; null where it reverts or nobody is there. Fails where the node does not know the block. */
  read(blockHash: string, calls: readonly ContractCall[]): Promise<readonly (Hex | null)[]>
  /**
   * What each call reverts with where it comes from an address with this code; null where it does not revert, or where the node
   * takes no state overrides.
   */
  revertsOf(blockHash: string, code: Hex, calls: readonly ContractCall[]): Promise<readonly (Hex | null)[]>
  /** The time that contracts saw in that block, Unix seconds. */
  minedAt(blockHash: string): Promise<number>
  /** A word of a contract's storage, where no call tells it. */
  storageAt(blockHash: string, address: string, slot: number): Promise<bigint>
}>

/** aggregate3((address target, bool allowFailure, bytes callData)[]) returns ((bool success, bytes returnData)[]) */
const AGGREGATE = '0x82ad56cb'
/** Calls in one eth_call: about twelve million gas of storage reads. */
const PER_CALL = 400
/** Calls in flight at once, so that a node is not run over. */
const CALLS_AT_ONCE = 200

/** With Multicall3 where the network has it, in JSON batches otherwise. */
export function createBlockReader(rpc: Rpc, multicall3: string | null): BlockReader {
  return {
    async read(blockHash, calls) {
      const found: (Hex | null)[] = []
      const size = multicall3 === null ? CALLS_AT_ONCE : PER_CALL
      for (let start = 0; start < calls.length; start += size) {
        const part = calls.slice(start, start + size)
        const answers = await (multicall3 === null
          ? Promise.all(part.map((call) => readOne(rpc, blockHash, call)))
          : readTogether(rpc, multicall3, blockHash, part))
        found.push(...answers)
      }
      return found
    },
    revertsOf: (blockHash, code, calls) => Promise.all(calls.map((call) => revertOf(rpc, blockHash, code, call))),
    minedAt: async (blockHash) => (await headerOf(rpc, blockHash)).minedAtMs / 1000,
    storageAt: async (blockHash, address, slot) =>
      BigInt(await rpc.ask('eth_getStorageAt', [address, `0x${slot.toString(16)}`, { blockHash }], bytes)),
  }
}

/** The same questions to each contract: a row of answers for each. */
export async function readEach(
  reader: Pick<BlockReader, 'read'>,
  at: string,
  contracts: readonly Readonly<{ address: string }>[],
  questions: readonly Hex[],
): Promise<readonly (readonly (Hex | null)[])[]> {
  const answers = await reader.read(
    at,
    contracts.flatMap(({ address: to }) => questions.map((calldata) => ({ to, calldata }))),
  )
  const width = questions.length
  return contracts.map((_, index) => answers.slice(width * index, width * (index + 1)))
}

async function readTogether(rpc: Rpc, multicall3: string, blockHash: string, calls: readonly ContractCall[]) {
  const answer = await rpc.ask('eth_call', [{ to: multicall3, data: encodeCalls(calls) }, { blockHash }], bytes)
  return decodeResults(answer, calls.length)
}

/*
 * By hand: a network is read by a hundred thousand calls, of which a library's objects would be most of the memory and time.
 * A list of what has no fixed length is its length, then the place of each entry from there on, then the entries.
 */

function encodeCalls(calls: readonly ContractCall[]): Hex {
  const places: string[] = []
  const entries: string[] = []
  let place = 32 * calls.length
  for (const { to, calldata } of calls) {
    const length = calldata.length / 2 - 1
    const padded = calldata.slice(2).padEnd(64 * Math.ceil(length / 32), '0')
    const entry = `${toWord(BigInt(to))}${toWord(1)}${toWord(96)}${toWord(length)}${padded}`
    places.push(toWord(place))
    entries.push(entry)
    place += entry.length / 2
  }
  return `${AGGREGATE}${toWord(32)}${toWord(calls.length)}${places.join('')}${entries.join('')}`
}

/** Null where a call failed. */
function decodeResults(answer: Hex, count: number): (Hex | null)[] {
  const sizeAt = (at: number): number => {
    const word = answer.slice(at, at + 64)
    if (!/^0{52}[0-9a-f]{12}$/.test(word)) throw new InvalidReply('not an answer of Multicall3')
    return Number.parseInt(word, 16)
  }
  // In characters, behind 0x and the place of the list.
  const list = 2 + 64
  if (sizeAt(list) !== count) throw new InvalidReply('not as many answers as calls')
  const first = list + 64
  return Array.from({ length: count }, (_, index) => {
    const entry = first + 2 * sizeAt(first + 64 * index)
    const start = entry + 3 * 64
    const result: Hex = `0x${answer.slice(start, start + 2 * sizeAt(entry + 128))}`
    return sizeAt(entry) === 1 ? orNothing(result) : null
  })
}

async function readOne(rpc: Rpc, blockHash: string, { to, calldata }: ContractCall): Promise<Hex | null> {
  try {
    const [answer] = await rpc.askMany([{ method: 'eth_call', params: [{ to, data: calldata }, { blockHash }] }], bytes)
    return orNothing(answer)
  } catch (error) {
    const refusal = refusalOf(error)
    // Code 3 is a revert (geth, anvil, reth); any other refusal says nothing of the contract.
    if (refusal !== null && (refusal.code === 3 || refusal.reverted !== null)) return null
    throw error
  }
}

/** Nobody lives there. */
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

const orNothing = (answer: Hex | undefined): Hex | null => (answer === undefined || answer === '0x' ? null : answer)
