import { setTimeout as wait } from 'node:timers/promises'
import { deploymentProxy } from '@swapyard/contracts'
import { type Hex, keccak256 } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Network } from '../../core/domain/network.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { present } from '../../lib/assert.ts'
import { feeCapsOf, readFeeRate, readRollupFee } from '../chains/evm/fees.ts'
import type { EvmNode } from '../chains/evm/node.ts'
import { feeOf } from '../chains/evm/received.ts'
import { count, hash, orNull, quantity, type ReceiptReply, receipt, transaction } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import {
  type ContractState,
  chainIdOf,
  type DeployTarget,
  hasCode,
  nodeOf,
  readStates,
  supportsOpcodes,
} from './deploy.ts'

/** Why nothing was sent. Amounts in wei. */
export type DeployRefusal =
  | Readonly<{ kind: 'no-deployer' }>
  | Readonly<{ kind: 'unsupported-opcodes' }>
  | Readonly<{ kind: 'pending-transactions'; transactions: number }>
  | Readonly<{ kind: 'insufficient-balance'; balance: bigint; needed: bigint }>

/** A deployed contract. `sent` is its transaction, or null if it was deployed before. */
export type DeployedContract = Readonly<{
  contract: ContractState['contract']
  address: string
  sent: Readonly<{ txHash: string; height: number; gasUsed: bigint; fee: bigint }> | null
}>

/** Gas limit in percent of the estimate; unused gas is not paid. */
const GAS_PERCENT = 120n
/** Time for one transaction to be mined. */
const MINED_MS = 300_000
const POLL_MS = 500

/** The account of a private key of 32 bytes; null for an invalid key. */
export function openDeployer(privateKey: Hex): PrivateKeyAccount | null {
  try {
    return privateKeyToAccount(privateKey)
  } catch {
    // The library's error text may contain the key.
    return null
  }
}

type PlannedDeployment = Readonly<{ state: ContractState; raw: Hex; maxCost: bigint }>

/**
 * Deploys the missing contracts from this account, one after another, and reports each as soon as it is deployed. An
 * interrupted run can be repeated without paying twice.
 */
export async function deployFromAccount(
  target: DeployTarget,
  account: PrivateKeyAccount,
  onDeployed: (contract: DeployedContract) => void,
): Promise<DeployRefusal | null> {
  const node = nodeOf(target)
  const states = await readStates(node, chainIdOf(target))
  for (const { contract, address } of states.filter(({ isDeployed }) => isDeployed))
    onDeployed({ contract, address, sent: null })
  const missing = states.filter(({ isDeployed }) => !isDeployed)
  if (missing.length === 0) return null
  if (!(await hasCode(node, deploymentProxy))) return { kind: 'no-deployer' }
  if (!(await supportsOpcodes(node))) return { kind: 'unsupported-opcodes' }
  const nonceAt = (block: string) => node.ask('eth_getTransactionCount', [account.address, block], count)
  const [nonce, next] = await Promise.all([nonceAt('latest'), nonceAt('pending')])
  // Pending transactions may be the same deployments of an interrupted run. Sent twice, the later ones would fail at a cost.
  if (next > nonce) return { kind: 'pending-transactions', transactions: next - nonce }
  const rate = await readFeeRate([node], target.network, feeCapsOf(target.network))
  const plans: PlannedDeployment[] = []
  for (const [index, state] of missing.entries())
    plans.push(await plan(node, target.network, account, state, nonce + index, rate))
  const needed = plans.reduce((sum, { maxCost }) => sum + maxCost, 0n)
  const balance = await node.ask('eth_getBalance', [account.address, 'latest'], quantity)
  if (balance < needed) return { kind: 'insufficient-balance', balance, needed }
  for (const { state, raw } of plans) onDeployed(await deploy(node, target.network, state, raw))
  return null
}

/** Signs a deployment and computes its maximum cost. */
async function plan(
  node: EvmNode,
  network: Network,
  account: PrivateKeyAccount,
  state: ContractState,
  nonce: number,
  { rate, tip = 0n }: FeeRate,
): Promise<PlannedDeployment> {
  const { chainId, data: input, gas: estimate } = present(state.transaction, 'the deployment transaction')
  if (estimate === null) throw unavailable(`${node.name} returned no gas estimate for the ${state.contract}`)
  const gas = (BigInt(estimate) * GAS_PERCENT) / 100n
  const call = { chainId, nonce, gas, to: deploymentProxy, data: input as Hex } as const
  const raw = network.evm?.dynamicFees
    ? await account.signTransaction({ ...call, type: 'eip1559', maxFeePerGas: rate, maxPriorityFeePerGas: tip })
    : await account.signTransaction({ ...call, type: 'legacy', gasPrice: rate })
  return { state, raw, maxCost: gas * rate + (await readRollupFee(node, raw, gas)) }
}

async function deploy(
  node: EvmNode,
  network: Network,
  { contract, address }: ContractState,
  raw: Hex,
): Promise<DeployedContract> {
  const txHash = keccak256(raw)
  await send(node, raw, txHash)
  const receipt = await waitForReceipt(node, network, txHash)
  const { ok, height, gasUsed } = receipt
  // Another node may lag behind the receipt. After a revert the contract may exist because someone else deployed it.
  const deadline = Date.now() + MINED_MS
  while (!(await hasCode(node, address))) {
    if (!ok) throw unavailable(`${network.id}: ${txHash}, the deployment of the ${contract}, reverted`)
    if (Date.now() > deadline) throw unavailable(`${network.id}: ${txHash} is mined, but ${address} has no code`)
    await wait(POLL_MS)
  }
  return { contract, address, sent: { txHash, height, gasUsed, fee: feeOf(receipt) } }
}

/** If the reply is lost, the client repeats the call and the node refuses it as known: only the hash decides. */
async function send(node: EvmNode, raw: Hex, txHash: string): Promise<void> {
  try {
    await node.ask('eth_sendRawTransaction', [raw], hash)
  } catch (error) {
    if ((await node.ask('eth_getTransactionByHash', [txHash], orNull(transaction))) === null) throw error
  }
}

async function waitForReceipt(node: EvmNode, network: Network, txHash: string): Promise<ReceiptReply> {
  const deadline = Date.now() + MINED_MS
  for (;;) {
    const mined = await node.ask('eth_getTransactionReceipt', [txHash], orNull(receipt))
    if (mined !== null) return mined
    if (Date.now() > deadline)
      throw unavailable(`${network.id}: ${txHash} was sent but not mined within ${MINED_MS / 60_000} minutes`)
    await wait(POLL_MS)
  }
}
