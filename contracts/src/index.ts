import { concatHex, getCreate2Address, type Hex, keccak256, stringToHex } from 'viem'
import { externalExecutorAbi, swapExecutorAbi, swapRouterAbi } from '../generated/abi.ts'
import externalJson from '../generated/external-executor.json' with { type: 'json' }
import executorJson from '../generated/swap-executor.json' with { type: 'json' }
import routerJson from '../generated/swap-router.json' with { type: 'json' }
import probeJson from '../generated/transfer-probe.json' with { type: 'json' }

/**
 * Arachnid's deterministic deployment proxy, at the same address on nearly every EVM network. Its input is a salt and creation
 * code; it has no owner.
 */
export const deploymentProxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
/** The proxy's runtime code, for chains where it is not yet. */
export const deploymentProxyCode =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'

const salt = keccak256(stringToHex('swapyard'))

/** How a contract is put on a chain: `data` sent to the deployment proxy. */
export type Deployment = Readonly<{ address: Hex; data: Hex }>

/** Addresses follow from the bytecode alone, so that they are the same on every network. */
export function planDeployment(bytecode: Hex): Deployment {
  const address = getCreate2Address({ from: deploymentProxy, salt, bytecode })
  return { address, data: concatHex([salt, bytecode]) }
}

/** What users approve, and nothing else. */
export const swapRouter = { abi: swapRouterAbi, ...planDeployment(routerJson.bytecode as Hex) }

/** The executor in force: what the router lets trade. */
export const swapExecutor = { abi: swapExecutorAbi, ...planDeployment(executorJson.bytecode as Hex) }

/** Trades by a call of somebody else's router. */
export const externalExecutor = { abi: externalExecutorAbi, ...planDeployment(externalJson.bytecode as Hex) }

/** Runtime code that measures what a token's transfers lose; it lives in simulated calls alone. */
export const transferProbeCode = probeJson.code as Hex
