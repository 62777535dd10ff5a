import { concatHex, getCreate2Address, type Hex, keccak256, stringToHex } from 'viem'
import { externalExecutorAbi, swapExecutorAbi, swapRouterAbi } from '../generated/abi.ts'
import externalJson from '../generated/external-executor.json' with { type: 'json' }
import executorJson from '../generated/swap-executor.json' with { type: 'json' }
import routerJson from '../generated/swap-router.json' with { type: 'json' }
import probeJson from '../generated/transfer-probe.json' with { type: 'json' }

/**
 * Arachnid's deterministic deployment proxy, which has the same address on nearly every EVM network and no owner. Its calldata is a
 * salt followed by creation code.
 */
export const deploymentProxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
/** Runtime code of the proxy, for development chains without it (`anvil_setCode`). */
export const deploymentProxyCode =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'

const salt = keccak256(stringToHex('swapyard'))

/** Sending `data` to the deployment proxy creates the contract at `address`. */
export type Deployment = Readonly<{ address: Hex; data: Hex }>

/** CREATE2: the address depends only on the bytecode and is the same on every network. */
export function planDeployment(bytecode: Hex): Deployment {
  const address = getCreate2Address({ from: deploymentProxy, salt, bytecode })
  return { address, data: concatHex([salt, bytecode]) }
}

/** The only contract that users approve. */
export const swapRouter = { abi: swapRouterAbi, ...planDeployment(routerJson.bytecode as Hex) }

/** Trades along a route through pools. */
export const swapExecutor = { abi: swapExecutorAbi, ...planDeployment(executorJson.bytecode as Hex) }

/** Trades by one call to a third-party router. */
export const externalExecutor = { abi: externalExecutorAbi, ...planDeployment(externalJson.bytecode as Hex) }

/** Runtime code that measures transfer fees of a token. It is used only in `eth_call` with state overrides and never deployed. */
export const transferProbeCode = probeJson.code as Hex
