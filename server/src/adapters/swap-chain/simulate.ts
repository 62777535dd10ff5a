import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import type { EvmNode } from '../chains/evm/node.ts'
import { hex } from '../chains/evm/node.ts'
import { address, bytes, count, type Decode, fields, hash, list, orNull, quantity } from '../chains/evm/replies.ts'
import { failureOf, parseRevertData, refusalOf, unavailable } from '../chains/evm/rpc.ts'
import { callFailure } from './call-failure.ts'

/** A transaction that is not yet signed, as a simulation sees it. */
export type UnsignedCall = Readonly<{ from: string; to: string; input: Hex; value: bigint }>

/** How it went. `gas` is a limit under which it was seen to work, with room for a state that moves on. */
export type Outcome = Readonly<{ ok: true; returned: Hex; gas: bigint }> | Readonly<{ ok: false; reverted: Hex | null }>

/** One after another, each on the state that those before it left. `allows`: what the first does for the last. */
export type Simulation = Readonly<{
  calls: readonly UnsignedCall[]
  allows: Readonly<{ token: string; owner: string; spender: string; units: bigint }> | null
}>

/** Refunds give back at most a fifth of what was used (EIP-3529), and calls keep a sixty-fourth: a quarter, and room. */
const USED_PERCENT = 150n
/** An estimate is of the block that is, in which nobody pays for a pair's first price of a second (44 000 gas). */
const ESTIMATE_PERCENT = 150n
/** Words of the token that `allowance` reads: a handful, behind proxies a few more. */
const SLOTS_MAX = 32

const abi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])

/** By `eth_simulateV1` where the node has it, else each call alone on a state that is overridden. */
export async function simulate(node: EvmNode, trial: Simulation): Promise<readonly Outcome[]> {
  const time =
    1 + (await node.ask('eth_getBlockByNumber', ['latest', false], (reply) => count(fields(reply)['timestamp'])))
  const first = await simulateV1(
    node,
    trial.calls.map((call) => ({ ...call, gas: null })),
    time,
  )
  if (first === null) return simulateApart(node, trial)
  if (first.some(({ ok }) => !ok)) return first.map(({ ok, returned, used }) => outcome(ok, returned, used))
  // What was used is less than what is needed along the way: the limits are tried before they are handed out.
  for (const percent of [USED_PERCENT, 2n * USED_PERCENT]) {
    const limits = first.map(({ used }) => (used * percent) / 100n)
    const again = await simulateV1(
      node,
      trial.calls.map((call, n) => ({ ...call, gas: limits[n] ?? null })),
      time,
    )
    if (again?.every(({ ok }) => ok)) return again.map(({ returned }, n) => outcome(true, returned, limits[n] ?? 0n))
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
  // anvil says what it reverted with as what it returned, geth in the error.
  const told = ok || returned !== '0x' ? null : parseRevertData(orNull(fields)(call['error'])?.['data'])
  return { ok, returned: told ?? returned, used: quantity(call['gasUsed']) }
}

/** In a block that is later than the last: pools do more in it. null where the node does not offer it, by whatever code. */
async function simulateV1(
  node: EvmNode,
  calls: readonly (UnsignedCall & { gas: bigint | null })[],
  time: number,
): Promise<readonly Simulated[] | null> {
  const asked = calls.map(({ from, to, input, value, gas }) => ({
    ...{ from, to, input, value: hex(value) },
    ...(gas === null ? {} : { gas: hex(gas) }),
  }))
  try {
    const blocks = await node.ask(
      'eth_simulateV1',
      [{ blockStateCalls: [{ blockOverrides: { time: hex(time) }, calls: asked }], validation: false }, 'latest'],
      list((block) => list(simulated)(fields(block)['calls'])),
    )
    const done = blocks.flat()
    if (done.length !== calls.length)
      throw unavailable(`${node.name} simulated ${done.length} of ${calls.length} calls`)
    return done
  } catch (error) {
    if (refusalOf(error) !== null || isForbidden(failureOf(error)?.status ?? 0)) return null
    throw error
  }
}

/** Some providers answer a method that they do not sell with a status of HTTP. */
const isForbidden = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429

async function simulateApart(node: EvmNode, { calls, allows }: Simulation): Promise<readonly Outcome[]> {
  const last = calls.length - 1
  const overrides = allows === null ? null : await allowanceOverride(node, allows)
  return Promise.all(calls.map((call, n) => one(node, call, n === last ? overrides : null)))
}

type Overrides = Readonly<Record<string, Readonly<{ stateDiff: Readonly<Record<string, Hex>> }>>>

async function one(node: EvmNode, call: UnsignedCall, overrides: Overrides | null): Promise<Outcome> {
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

/** The word that holds the allowance, found by what `allowance` reads and by what it then says. */
async function allowanceOverride(node: EvmNode, allows: NonNullable<Simulation['allows']>): Promise<Overrides> {
  const { token, owner, spender, units } = allows
  const input = encodeFunctionData({ abi, functionName: 'allowance', args: [owner as Hex, spender as Hex] })
  const call = { from: owner, to: token, data: input }
  const read = await node.ask('eth_createAccessList', [call, 'latest'], (reply) =>
    list(words)(fields(reply)['accessList']),
  )
  const wanted = numberToHex(units, { size: 32 })
  for (const { holder, slot } of read.flat().slice(0, SLOTS_MAX)) {
    const overrides = { [holder]: { stateDiff: { [slot]: wanted } } }
    const said = await node.ask('eth_call', [call, 'latest', overrides], bytes).catch((error: unknown) => {
      if (refusalOf(error) === null) throw error
      return null
    })
    if (said === wanted) return overrides
  }
  throw unavailable(`${node.name} offers no way to simulate with an allowance of ${token}`)
}

const words: Decode<readonly { holder: string; slot: string }[]> = (reply) => {
  const entry = fields(reply)
  const holder = address(entry['address'])
  return list(hash)(entry['storageKeys']).map((slot) => ({ holder, slot }))
}
