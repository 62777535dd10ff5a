import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import type { EvmNode } from '../chains/evm/node.ts'
import { hex } from '../chains/evm/node.ts'
import { address, bytes, count, type Decode, fields, hash, list, orNull, quantity } from '../chains/evm/replies.ts'
import { failureOf, parseRevertBytes, refusalOf, unavailable } from '../chains/evm/rpc.ts'
import { callFailure } from './call-failure.ts'

/** An unsigned transaction. */
export type UnsignedCall = Readonly<{ from: string; to: string; input: Hex; value: bigint }>

/** `gas` is a limit with which the call succeeded, with a margin for state changes. */
export type Outcome = Readonly<{ ok: true; returned: Hex; gas: bigint }> | Readonly<{ ok: false; reverted: Hex | null }>

/** Calls in order, each on the state after the previous ones. `allowance`: the approval that the first call grants the last. */
export type Simulation = Readonly<{
  calls: readonly UnsignedCall[]
  allowance: Readonly<{ token: string; owner: string; spender: string; units: bigint }> | null
}>

/** Refunds return at most a fifth of the used gas (EIP-3529), calls withhold a sixty-fourth (EIP-150): a quarter, and a margin. */
const USED_PERCENT = 150n
/** An estimate is for the latest block; a pair's first price update in a later second costs 44 000 more gas. */
const ESTIMATE_PERCENT = 150n
/** Bound of the storage slots that `allowance` reads: a few, more behind proxies. */
const SLOTS_MAX = 32

const abi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])

/** Simulates by `eth_simulateV1`, or without it each call separately with a state override. */
export async function simulate(node: EvmNode, simulation: Simulation): Promise<readonly Outcome[]> {
  const time =
    1 + (await node.ask('eth_getBlockByNumber', ['latest', false], (reply) => count(fields(reply)['timestamp'])))
  const first = await simulateV1(
    node,
    simulation.calls.map((call) => ({ ...call, gas: null })),
    time,
  )
  if (first === null) return simulateSeparately(node, simulation)
  if (first.some(({ ok }) => !ok)) return first.map(({ ok, returned, used }) => outcome(ok, returned, used))
  // Used gas is less than the limit a call needs while it runs, so the limits are tested before they are returned.
  for (const percent of [USED_PERCENT, 2n * USED_PERCENT]) {
    const limits = first.map(({ used }) => (used * percent) / 100n)
    const repeated = await simulateV1(
      node,
      simulation.calls.map((call, n) => ({ ...call, gas: limits[n] ?? null })),
      time,
    )
    if (repeated?.every(({ ok }) => ok))
      return repeated.map(({ returned }, n) => outcome(true, returned, limits[n] ?? 0n))
  }
  return first.map(() => ({ ok: false, reverted: null }))
}

const outcome = (ok: boolean, returned: Hex, gas: bigint): Outcome =>
  ok ? { ok, returned, gas } : { ok, reverted: returned }

type Simulated = Readonly<{ ok: boolean; returned: Hex; used: bigint }>

const simulated: Decode<Simulated> = (reply) => {
  const call = fields(reply)
  const ok = quantity(call['status']) === 1n
  const returned = orNull(bytes)(call['returnData']) ?? '0x'
  // anvil returns revert data in `returnData`, geth in `error.data`.
  const reverted = ok || returned !== '0x' ? null : parseRevertBytes(orNull(fields)(call['error'])?.['data'])
  return { ok, returned: reverted ?? returned, used: quantity(call['gasUsed']) }
}

/** Simulates in a block one second later, in which pools do more work. Null if the node does not support the method. */
async function simulateV1(
  node: EvmNode,
  calls: readonly (UnsignedCall & { gas: bigint | null })[],
  time: number,
): Promise<readonly Simulated[] | null> {
  const requests = calls.map(({ from, to, input, value, gas }) => ({
    ...{ from, to, input, value: hex(value) },
    ...(gas === null ? {} : { gas: hex(gas) }),
  }))
  try {
    const blocks = await node.ask(
      'eth_simulateV1',
      [{ blockStateCalls: [{ blockOverrides: { time: hex(time) }, calls: requests }], validation: false }, 'latest'],
      list((block) => list(simulated)(fields(block)['calls'])),
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

async function simulateSeparately(node: EvmNode, { calls, allowance }: Simulation): Promise<readonly Outcome[]> {
  const last = calls.length - 1
  const overrides = allowance === null ? null : await findAllowanceOverride(node, allowance)
  return Promise.all(calls.map((call, n) => simulateCall(node, call, n === last ? overrides : null)))
}

type Overrides = Readonly<Record<string, Readonly<{ stateDiff: Readonly<Record<string, Hex>> }>>>

async function simulateCall(node: EvmNode, call: UnsignedCall, overrides: Overrides | null): Promise<Outcome> {
  const { input, value, ...parties } = call
  const params = [{ ...parties, data: input, value: hex(value) }, 'latest', ...(overrides === null ? [] : [overrides])]
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

/** Finds the storage slot of the allowance among those that `allowance` reads, by overriding each and reading the result. */
async function findAllowanceOverride(
  node: EvmNode,
  allowance: NonNullable<Simulation['allowance']>,
): Promise<Overrides> {
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
