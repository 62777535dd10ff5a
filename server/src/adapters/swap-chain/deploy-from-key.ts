import { setTimeout as wait } from 'node:timers/promises'
import { deploymentProxy } from '@swapyard/contracts'
import { type Hex, keccak256 } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Network } from '../../core/domain/network.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { present } from '../../lib/assert.ts'
import { feeCaps, readL1Fee, readFeeRate } from '../chains/evm/fees.ts'
import type { EvmNode } from '../chains/evm/node.ts'
import { count, hash, orNull, quantity, type ReceiptReply, receipt, transaction } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { type ContractState, chainIdOf, type DeployTarget, hasCode, nodeOf, readStates } from './deploy.ts'

/** Why nothing was sent; wei. */
export type DeployRefusal =
  | Readonly<{ kind: 'no-deployer' }>
  | Readonly<{ kind: 'waiting'; transactions: number }>
  | Readonly<{ kind: 'poor'; balance: bigint; needed: bigint }>

/** A contract that stands now: what put it there, or null where it stood before. */
export type DeployedContract = Readonly<{
  contract: ContractState['contract']
  address: string
  sent: Readonly<{ txHash: string; height: number; gasUsed: bigint; fee: bigint }> | null
}>

/** Beyond the estimate, of which nothing is paid that is not used. */
const GAS_PERCENT = 120n
/** Of one transaction, to be in a block. */
const MINED_MS = 300_000
const POLL_MS = 500

/** The address of a private key of 32 bytes, and what signs with it; null where these are none. */
export function openDeployer(privateKey: Hex): PrivateKeyAccount | null {
  try {
    return privateKeyToAccount(privateKey)
  } catch {
    // What the library says may hold the key.
    return null
  }
}

type Planned = Readonly<{ state: ContractState; raw: Hex; most: bigint }>

/**
 * Sends what is missing from this account, one transaction after another, each once the one before stands. What stands is told
 * at once: whoever ends it in between can begin again, and pays for nothing twice.
 */
export async function deployFromAccount(
  where: DeployTarget,
  account: PrivateKeyAccount,
  placed: (one: DeployedContract) => void,
): Promise<DeployRefusal | null> {
  const node = nodeOf(where)
  const states = await readStates(node, chainIdOf(where))
  for (const { contract, address } of states.filter(({ isDeployed }) => isDeployed))
    placed({ contract, address, sent: null })
  const missing = states.filter(({ isDeployed }) => !isDeployed)
  if (missing.length === 0) return null
  if (!(await hasCode(node, deploymentProxy))) return { kind: 'no-deployer' }
  const nonceAt = (block: string) => node.ask('eth_getTransactionCount', [account.address, block], count)
  const [nonce, next] = await Promise.all([nonceAt('latest'), nonceAt('pending')])
  // These may be the same deployments, of a run that was ended: sent again, the later ones would be paid for and fail.
  if (next > nonce) return { kind: 'waiting', transactions: next - nonce }
  const rate = await readFeeRate([node], where.network, feeCaps)
  const plans: Planned[] = []
  for (const [index, state] of missing.entries())
    plans.push(await plan(node, where.network, account, state, nonce + index, rate))
  const needed = plans.reduce((sum, { most }) => sum + most, 0n)
  const balance = await node.ask('eth_getBalance', [account.address, 'latest'], quantity)
  if (balance < needed) return { kind: 'poor', balance, needed }
  for (const { state, raw } of plans) placed(await place(node, where.network, state, raw))
  return null
}

/** Signed, and what it may cost at most. */
async function plan(
  node: EvmNode,
  network: Network,
  account: PrivateKeyAccount,
  state: ContractState,
  nonce: number,
  { rate, tip = 0n }: FeeRate,
): Promise<Planned> {
  const { chainId, data: input, gas: estimate } = present(state.transaction, 'what deploys it')
  if (estimate === null) throw unavailable(`${node.name} gives no estimate for the ${state.contract}`)
  const gas = (BigInt(estimate) * GAS_PERCENT) / 100n
  const call = { chainId, nonce, gas, to: deploymentProxy, data: input as Hex } as const
  const raw = network.evm?.dynamicFees
    ? await account.signTransaction({ ...call, type: 'eip1559', maxFeePerGas: rate, maxPriorityFeePerGas: tip })
    : await account.signTransaction({ ...call, type: 'legacy', gasPrice: rate })
  return { state, raw, most: gas * rate + (await readL1Fee(node, raw)) }
}

async function place(
  node: EvmNode,
  network: Network,
  { contract, address }: ContractState,
  raw: Hex,
): Promise<DeployedContract> {
  const txHash = keccak256(raw)
  await send(node, raw, txHash)
  const { ok, height, gasUsed, gasPrice, l1Fee } = await mined(node, network, txHash)
  // A node behind the one that had the receipt may not know of it yet; and what reverted may stand by another's hand.
  const deadline = Date.now() + MINED_MS
  while (!(await hasCode(node, address))) {
    if (!ok) throw unavailable(`${network.id}: ${txHash}, which puts the ${contract} there, reverted`)
    if (Date.now() > deadline) throw unavailable(`${network.id}: ${txHash} is done, and no code is at ${address}`)
    await wait(POLL_MS)
  }
  return { contract, address, sent: { txHash, height, gasUsed, fee: gasUsed * gasPrice + l1Fee } }
}

/** An answer that was lost is asked for again by the node's client, and then refused as known: only the hash decides. */
async function send(node: EvmNode, raw: Hex, txHash: string): Promise<void> {
  try {
    await node.ask('eth_sendRawTransaction', [raw], hash)
  } catch (error) {
    if ((await node.ask('eth_getTransactionByHash', [txHash], orNull(transaction))) === null) throw error
  }
}

async function mined(node: EvmNode, network: Network, txHash: string): Promise<ReceiptReply> {
  const deadline = Date.now() + MINED_MS
  for (;;) {
    const found = await node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt))
    if (found !== null) return found
    if (Date.now() > deadline)
      throw unavailable(`${network.id}: ${txHash} is sent, and in no block after ${MINED_MS / 60_000} minutes`)
    await wait(POLL_MS)
  }
}
