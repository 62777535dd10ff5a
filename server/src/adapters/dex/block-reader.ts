import type { Hex } from 'viem'
import { bytes } from '../chains/evm/replies.ts'
import { failureOf, isRevert, type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { headerOf } from './headers.ts'
import { type ContractCall, createMulticall, type Multicall } from './multicall.ts'

export type { ContractCall }

/** Reads the state of contracts after one block. */
export type BlockReader = Readonly<{
  /** The result of each call; null if it fails or the address has no code. Throws if the node does not know the block. */
  read(blockHash: string, calls: readonly ContractCall[]): Promise<readonly (Hex | null)[]>
  /**
   * As `read`, for contracts that anybody may have written. Each call has its own, limited gas: one that burns it does not change
   * the results of the others.
   */
  readSingly(blockHash: string, calls: readonly ContractCall[]): Promise<readonly (Hex | null)[]>
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

/** Calls in one eth_call: about twelve million gas of storage reads. */
const PER_CALL = 400
/** Limit of concurrent calls to one node. */
const CALLS_AT_ONCE = 200
/**
 * A refused batch is halved down to this size, and then read call by call: at most 31 smaller batches and one or two requests for
 * each of its calls, whatever its contracts do.
 */
const HALVED_MIN = 25
/** Gas of a call that is read after its batch was refused. The largest forecast of Slipstream takes three millions. */
const REFUSED_GAS = 5_000_000
/** Gas of a call to a contract that anybody may have written. */
const SINGLE_GAS = 1_000_000

/** Uses Multicall3 if the network has it, JSON batches otherwise. `currentRpc`: the node for the next read. */
export function createBlockReader(currentRpc: () => Rpc, multicall3: string | null): BlockReader {
  const multicall = multicall3 === null ? null : createMulticall(multicall3)
  return {
    read(blockHash, calls) {
      const reading = createReading(currentRpc(), blockHash)
      return multicall === null
        ? inParts(calls, CALLS_AT_ONCE, (part) => readPart(reading, part))
        : inParts(calls, PER_CALL, (part) => readByMulticall(reading, multicall, part))
    },
    readSingly(blockHash, calls) {
      const reading = createReading(currentRpc(), blockHash)
      return inParts(calls, CALLS_AT_ONCE, (part) => readPart(reading, part, SINGLE_GAS))
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

/** The node and the block of one read. */
type Reading = Readonly<{
  rpc: Rpc
  blockHash: string
  /** Throws unless the node executes a call without code at the block. Asks at most once. */
  checkNode(): Promise<void>
}>

function createReading(rpc: Rpc, blockHash: string): Reading {
  let check: Promise<unknown> | null = null
  return {
    rpc,
    blockHash,
    async checkNode() {
      check ??= rpc.ask('eth_call', [{ to: CALLER, data: '0x' }, { blockHash }], bytes)
      await check
    },
  }
}

async function inParts(
  calls: readonly ContractCall[],
  size: number,
  readSome: (part: readonly ContractCall[]) => Promise<Answers>,
): Promise<Answers> {
  const results: (Hex | null)[] = []
  for (let start = 0; start < calls.length; start += size)
    results.push(...(await readSome(calls.slice(start, start + size))))
  return results
}

/**
 * A contract that burns the gas of the batch, or returns megabytes, makes the node refuse all of it. If enough gas is left for the
 * results but not for some calls, Multicall3 returns those as failed: then nothing of the batch counts.
 */
async function readByMulticall(
  reading: Reading,
  multicall: Multicall,
  calls: readonly ContractCall[],
): Promise<Answers> {
  const { rpc, blockHash } = reading
  const answer = await rpc
    .ask('eth_call', [multicall.encode(calls), { blockHash }], bytes)
    .catch((error: unknown) => checkCause(reading, error))
  const results = answer === null ? null : multicall.decode(answer, calls.length)
  if (results !== null) return results
  if (calls.length <= HALVED_MIN) return readPart(reading, calls, REFUSED_GAS)
  return inParts(calls, Math.ceil(calls.length / 2), (half) => readByMulticall(reading, multicall, half))
}

const rateLimitCodes: ReadonlySet<number> = new Set([-32005, 429])

/** Null if the contracts may have caused the error. Throws it if the node did; nodes have no code that tells the two apart. */
async function checkCause(reading: Reading, error: unknown): Promise<null> {
  const refusal = refusalOf(error)
  const isTooLarge = failureOf(error)?.isTooLarge ?? false
  if (refusal === null ? !isTooLarge : rateLimitCodes.has(refusal.code)) throw error
  await reading.checkNode()
  return null
}

const readPart = (reading: Reading, part: readonly ContractCall[], gas?: number): Promise<Answers> =>
  Promise.all(part.map((call) => readOne(reading, call, gas)))

async function readOne(reading: Reading, { to, calldata }: ContractCall, gas?: number): Promise<Hex | null> {
  const { rpc, blockHash } = reading
  const limit = gas === undefined ? {} : { gas: `0x${gas.toString(16)}` }
  const params = [{ to, data: calldata, ...limit }, { blockHash }]
  const nullIfReverted = (error: unknown) => {
    const refusal = refusalOf(error)
    if (refusal !== null && isRevert(refusal)) return '0x' as const
    return checkCause(reading, error)
  }
  const [answer = null] = (await rpc
    .askMany([{ method: 'eth_call', params }], bytes)
    .catch(async (error: unknown) => [await nullIfReverted(error)])) as readonly (Hex | null)[]
  // Other calls of a JSON batch, or a node that lags, may have caused it: the call is repeated alone.
  return orNull(answer ?? (await rpc.ask('eth_call', params, bytes).catch(nullIfReverted)))
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

const orNull = (answer: Hex | null): Hex | null => (answer === '0x' ? null : answer)
