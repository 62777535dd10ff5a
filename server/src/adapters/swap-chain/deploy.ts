import { setTimeout as wait } from 'node:timers/promises'
import {
  type Deployment,
  deploymentProxy,
  deploymentProxyCode,
  externalExecutor,
  swapExecutor,
  swapRouter,
} from '@swapyard/contracts'
import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import type { Network } from '../../core/domain/network.ts'
import { assert, present } from '../../lib/assert.ts'
import { createNode, type EvmNode, hex } from '../chains/evm/node.ts'
import { address, bytes, hash, list, quantity } from '../chains/evm/replies.ts'
import { refusalOf, rpcDefaults, unavailable } from '../chains/evm/rpc.ts'

const names = ['router', 'executor', 'external-executor'] as const
type ContractName = (typeof names)[number]

/** One of our contracts on one network: deployed, or the transaction that deploys it. Anyone may send it. */
export type ContractState = Readonly<{
  contract: ContractName
  address: string
  isDeployed: boolean
  transaction: Readonly<{ chainId: number; to: string; data: string; value: '0'; gas: string | null }> | null
}>

export type DeployTarget = Readonly<{ network: Network; rpcUrls: readonly NodeEndpoint[] }>

const contracts = {
  router: swapRouter,
  executor: swapExecutor,
  'external-executor': externalExecutor,
} as const satisfies Record<ContractName, Deployment>
/** Sandbox chain ids are above this. Only there may a node's own account deploy. */
const SANDBOX_CHAIN_IDS_ABOVE = 3_133_700_000
const DEPLOY_GAS = 8_000_000
const DEPLOY_MS = 60_000
const POLL_MS = 100

/** Reads the state of our contracts from the first node. CREATE2 guarantees that code at these addresses is ours. */
export async function readContracts(target: DeployTarget): Promise<readonly ContractState[]> {
  return readStates(nodeOf(target), chainIdOf(target))
}

/** Deploys missing contracts on a sandbox chain from its node's own account and waits until they are mined. */
export async function deployContracts(target: DeployTarget): Promise<readonly ContractState[]> {
  const node = nodeOf(target)
  const chainId = chainIdOf(target)
  assert(chainId > SANDBOX_CHAIN_IDS_ABOVE, 'this deploys only to chains of the sandbox')
  const missing = (await readStates(node, chainId)).filter(({ isDeployed }) => !isDeployed)
  if (missing.length > 0 && !(await hasCode(node, deploymentProxy))) {
    await node.ask('anvil_setCode', [deploymentProxy, deploymentProxyCode], () => null)
  }
  const from = missing.length > 0 ? present((await node.ask('eth_accounts', [], list(address)))[0], 'an account') : ''
  for (const { transaction } of missing) {
    const { to, data: input } = present(transaction, 'the deployment transaction')
    await node.ask('eth_sendTransaction', [{ from, to, data: input, gas: hex(DEPLOY_GAS) }], hash)
  }
  const deadline = Date.now() + DEPLOY_MS
  for (;;) {
    const states = await readStates(node, chainId)
    if (states.every(({ isDeployed }) => isDeployed)) return states
    if (Date.now() > deadline) throw unavailable(`${target.network.id}: the contracts were not mined in time`)
    await wait(POLL_MS)
  }
}

export function readStates(node: EvmNode, chainId: number): Promise<readonly ContractState[]> {
  return Promise.all(
    names.map(async (contract) => {
      const { address: own, data: input } = contracts[contract]
      const isDeployed = await hasCode(node, own)
      const transaction = isDeployed ? null : await plan(node, chainId, input)
      return { contract, address: own, isDeployed, transaction }
    }),
  )
}

async function plan(node: EvmNode, chainId: number, input: string): Promise<ContractState['transaction']> {
  // The estimate is informational: the sender's wallet makes its own.
  const call = { to: deploymentProxy, data: input }
  const gas = await node.ask('eth_estimateGas', [call], quantity).catch(() => null)
  return { chainId, to: deploymentProxy, data: input, value: '0', gas: gas === null ? null : gas.toString() }
}

/**
 * Creation code that returns 1 through TSTORE and TLOAD (EIP-1153), MCOPY (EIP-5656) and PUSH0 (EIP-3855). Our contracts use these
 * opcodes; a chain without them accepts their deployment and then reverts every swap.
 */
const OPCODE_PROBE = '0x60015f5d5f5c5f5260205f60205e60206020f3'

/** Whether the chain executes the opcodes of our contracts. */
export async function supportsOpcodes(node: EvmNode): Promise<boolean> {
  try {
    return BigInt(await node.ask('eth_call', [{ data: OPCODE_PROBE }, 'latest'], bytes)) === 1n
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return false
  }
}

/** Whether the deterministic deployer is on the network. */
export const hasDeployer = (target: DeployTarget): Promise<boolean> => hasCode(nodeOf(target), deploymentProxy)

export const hasCode = async (node: EvmNode, at: string): Promise<boolean> =>
  (await node.ask('eth_getCode', [at, 'latest'], bytes)) !== '0x'

export function nodeOf({ network, rpcUrls }: DeployTarget): EvmNode {
  const url = present(rpcUrls[0], 'a node')
  return createNode(`${network.id} node 1`, url, chainIdOf({ network }), rpcDefaults)
}

export function chainIdOf({ network }: Pick<DeployTarget, 'network'>): number {
  return present(network.evm, 'the parameters of an evm network').chainId
}
