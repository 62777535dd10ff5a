import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import type { Network } from '../../core/domain/network.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import type { EvmNode } from '../chains/evm/node.ts'
import { hex } from '../chains/evm/node.ts'
import { address, bytes, count, type Decode, fields, hash, list, orNull, quantity } from '../chains/evm/replies.ts'
import { failureOf, parseRevertBytes, refusalOf, unavailable } from '../chains/evm/rpc.ts'
import { callFailure } from './call-failure.ts'

/** An unsigned transaction. */
export type UnsignedCall = Readonly<{ from: string; to: string; input: Hex; value: bigint }>

/** A call with the gas limit of its transaction. */
export type LimitedCall = UnsignedCall & Readonly<{ gas: bigint }>

/** `gas` is a limit with a margin for state changes. It is not tested yet: some calls need more gas while they run than they use. */
export type Estimate = Readonly<{ ok: true; returned: Hex; gas: bigint }> | Reverted
export type Outcome = Readonly<{ ok: true; returned: Hex }> | Reverted
type Reverted = Readonly<{ ok: false; reverted: Hex | null }>

/** The approval that the first call grants the last; null without one. */
export type GrantedAllowance = Readonly<{ token: string; owner: string; spender: string; units: bigint }> | null

/** The block after `parent` as contracts will see it. */
export type NextBlock = Readonly<{ parent: BlockRef; minedAtMs: number; overrides: Readonly<Record<string, Hex>> }>

/** Refunds return at most a fifth of the used gas (EIP-3529), calls withhold a sixty-fourth (EIP-150): a quarter, and a margin. */
const USED_PERCENT = 150n
/** An estimate is for the latest block; a pair's first price update in a later second costs 44 000 more gas. */
const ESTIMATE_PERCENT = 150n
/** Bound of the storage slots that `allowance` reads: a few, more behind proxies. */
const SLOTS_MAX = 32

const abi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])

/**
 * The block after the node's newest one. Without these overrides a simulation runs in a block without base fee and fee recipient, which
 * a contract can tell from the real execution.
 */
export function readNextBlock(node: EvmNode, { blockTimeMs }: Pick<Network, 'blockTimeMs'>): Promise<NextBlock> {
  return node.ask('eth_getBlockByNumber', ['latest', false], (reply) => {
    const header = fields(reply)
    const [height, time] = [count(header['number']), count(header['timestamp'])]
    const baseFee = orNull(quantity)(header['baseFeePerGas'])
    const randomness = orNull(hash)(header['mixHash'])
    return {
      parent: { height, hash: hash(header['hash']) },
      minedAtMs: time * 1000,
      overrides: {
        number: hex(height + 1),
        time: hex(time + Math.max(1, Math.round(blockTimeMs / 1000))),
        feeRecipient: address(header['miner']) as Hex,
        ...(baseFee === null ? {} : { baseFeePerGas: hex(baseFee) }),
        ...(randomness === null ? {} : { prevRandao: randomness as Hex }),
      },
    }
  })
}

/** Runs the calls in order, each on the state after the previous ones, and derives their gas limits. */
export async function estimateCalls(
  node: EvmNode,
  calls: readonly UnsignedCall[],
  next: NextBlock,
  allowance: GrantedAllowance,
): Promise<readonly Estimate[]> {
  const requests = calls.map(requestOf)
  const simulatedCalls = await simulateV1(node, requests, next, false)
  if (simulatedCalls !== null)
    return simulatedCalls.map(({ used, ...outcome }) =>
      outcome.ok ? { ...outcome, gas: (used * USED_PERCENT) / 100n } : outcome,
    )
  // Not every node takes state overrides for an estimate: none are sent where none are needed.
  const state = allowance === null ? null : await findAllowanceOverride(node, allowance)
  return Promise.all(calls.map((call, n) => estimateCall(node, call, n === calls.length - 1 ? state : null)))
}

/**
 * Runs the calls in order exactly as their transactions would run in the next block: with their gas limits and fees. The account must
 * be able to pay for them.
 */
export async function simulateCalls(
  node: EvmNode,
  calls: readonly LimitedCall[],
  next: NextBlock,
  options: Readonly<{ allowance: GrantedAllowance; fees: Readonly<Record<string, Hex>> }>,
): Promise<readonly Outcome[]> {
  const requests = calls.map((call) => ({ ...requestOf(call), gas: hex(call.gas), ...options.fees }))
  const simulatedCalls = await simulateV1(node, requests, next, true)
  if (simulatedCalls !== null) return simulatedCalls
  const { allowance } = options
  const state = allowance === null ? {} : await findAllowanceOverride(node, allowance)
  return Promise.all(requests.map((one, n) => callInBlock(node, one, next, n === calls.length - 1 ? state : {})))
}

type CallRequest = Readonly<Record<string, string>>

const requestOf = ({ from, to, input, value }: UnsignedCall): CallRequest => ({ from, to, input, value: hex(value) })

type Simulated = Outcome & Readonly<{ used: bigint }>

const simulatedCall: Decode<Simulated> = (reply) => {
  const call = fields(reply)
  const used = quantity(call['gasUsed'])
  const returned = orNull(bytes)(call['returnData']) ?? '0x'
  if (quantity(call['status']) === 1n) return { ok: true, returned, used }
  // anvil returns revert data in `returnData`, geth in `error.data`.
  const reverted = returned === '0x' ? parseRevertBytes(orNull(fields)(call['error'])?.['data']) : returned
  return { ok: false, reverted: reverted ?? returned, used }
}

/** `isValidated`: with the checks of real transactions; anvil sets the base fee only then. Null if the node does not support the method. */
async function simulateV1(
  node: EvmNode,
  calls: readonly CallRequest[],
  { parent, overrides }: NextBlock,
  isValidated: boolean,
): Promise<readonly Simulated[] | null> {
  try {
    const blocks = await node.ask(
      'eth_simulateV1',
      [
        { blockStateCalls: [{ blockOverrides: overrides, calls }], validation: isValidated },
        { blockHash: parent.hash },
      ],
      list((block) => list(simulatedCall)(fields(block)['calls'])),
    )
    const results = blocks.flat()
    if (results.length !== calls.length)
      throw unavailable(`${node.name} simulated ${results.length} of ${calls.length} calls`)
    return results
  } catch (error) {
    if (refusalOf(error) !== null || isForbidden(failureOf(error)?.status ?? 0)) return null
    throw error
  }
}

/** Some providers answer an unsupported method with an HTTP status. */
const isForbidden = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429

type StateOverrides = Readonly<Record<string, Readonly<{ stateDiff: Readonly<Record<string, Hex>> }>>>

async function estimateCall(node: EvmNode, call: UnsignedCall, state: StateOverrides | null): Promise<Estimate> {
  const { input, value, ...parties } = call
  const params = [{ ...parties, data: input, value: hex(value) }, 'latest', ...(state === null ? [] : [state])]
  try {
    const returned = await node.ask('eth_call', params, bytes)
    const gas = await node.ask('eth_estimateGas', params, quantity)
    return { ok: true, returned, gas: (gas * ESTIMATE_PERCENT) / 100n }
  } catch (error) {
    const failure = await callFailure(node, error)
    if (failure === null) throw error
    return { ok: false, reverted: failure.reverted }
  }
}

async function callInBlock(
  node: EvmNode,
  { input = '0x', ...request }: CallRequest,
  { parent, overrides }: NextBlock,
  state: StateOverrides,
): Promise<Outcome> {
  const call = [{ ...request, data: input }, { blockHash: parent.hash }, state]
  try {
    try {
      return { ok: true, returned: await node.ask('eth_call', [...call, overrides], bytes) }
    } catch (error) {
      // Old nodes refuse the fourth parameter. With a gas price they use the base fee and fee recipient of the newest block.
      if (refusalOf(error)?.code !== INVALID_PARAMS) throw error
      return { ok: true, returned: await node.ask('eth_call', call, bytes) }
    }
  } catch (error) {
    const failure = await callFailure(node, error)
    if (failure === null || (failure.reverted === null && !(await hasBlock(node, parent.hash)))) throw error
    return { ok: false, reverted: failure.reverted }
  }
}

/** JSON-RPC "Invalid params". */
const INVALID_PARAMS = -32602

/** An address may stand for several nodes, and one of them may lag. */
const hasBlock = (node: EvmNode, blockHash: string): Promise<boolean> =>
  node.ask('eth_getBlockByHash', [blockHash, false], (reply) => reply !== null)

/** Finds the storage slot of the allowance among those that `allowance` reads, by overriding each and reading the result. */
async function findAllowanceOverride(node: EvmNode, allowance: NonNullable<GrantedAllowance>): Promise<StateOverrides> {
  const { token, owner, spender, units } = allowance
  const input = encodeFunctionData({ abi, functionName: 'allowance', args: [owner as Hex, spender as Hex] })
  const call = { from: owner, to: token, data: input }
  const accessList = await node.ask('eth_createAccessList', [call, 'latest'], (reply) =>
    list(storageSlots)(fields(reply)['accessList']),
  )
  const word = numberToHex(units, { size: 32 })
  for (const { holder, slot } of accessList.flat().slice(0, SLOTS_MAX)) {
    const overrides = { [holder]: { stateDiff: { [slot]: word } } }
    const result = await node.ask('eth_call', [call, 'latest', overrides], bytes).catch((error: unknown) => {
      if (refusalOf(error) === null) throw error
      return null
    })
    if (result === word) return overrides
  }
  throw unavailable(`${node.name} cannot simulate with an allowance of ${token}`)
}

const storageSlots: Decode<readonly { holder: string; slot: string }[]> = (reply) => {
  const entry = fields(reply)
  const holder = address(entry['address'])
  return list(hash)(entry['storageKeys']).map((slot) => ({ holder, slot }))
}
