import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { concatHex, encodeAbiParameters, getCreate2Address, type Hex, keccak256, numberToHex, stringToHex } from 'viem'
import creationCode from '../generated/tokens.json' with { type: 'json' }
import type { JsonRpc } from '../json-rpc.ts'
import type { SandboxToken } from '../tokens.ts'

/**
 * Arachnid's deterministic deployment proxy, which anvil has on every chain. Its input is the salt and the creation
 * code.
 */
export const deployer = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
/** Whole tokens of the bank: enough of the cheapest token to fund many servers with millions of dollars each. */
const supplyTokens = 10n ** 15n
const gas = 3_000_000n

type Payer = Readonly<{ bank: Hex; feeWei: bigint }>
type Deployment = Readonly<{ address: Hex; data: Hex }>

export function planDeployment(token: SandboxToken, bank: Hex): Deployment {
  const code = (token.kind === 'tether' ? creationCode.TetherToken : creationCode.ListedToken) as Hex
  const parameters = encodeAbiParameters(
    [{ type: 'string' }, { type: 'string' }, { type: 'uint8' }, { type: 'address' }, { type: 'uint256' }],
    [token.name, token.symbol, token.decimals, bank, supplyTokens * 10n ** BigInt(token.decimals)],
  )
  return planContract(token.network, token.ticker, concatHex([code, parameters]))
}

/** The address depends only on network, ticker and code, so it is the same in every sandbox. */
export function planContract(network: string, ticker: string, bytecode: Hex): Deployment {
  const salt = keccak256(stringToHex(`swapyard sandbox ${network} ${ticker}`))
  return { address: getCreate2Address({ from: deployer, salt, bytecode }), data: concatHex([salt, bytecode]) }
}

/** Deploys the tokens that are missing. Returns the contract addresses by ticker. */
export async function deployTokens(
  rpc: JsonRpc,
  tokens: readonly SandboxToken[],
  payer: Payer,
): Promise<Record<string, Hex>> {
  const plans = tokens.map((token) => ({ name: token.ticker, ...planDeployment(token, payer.bank) }))
  return deployMissing(rpc, plans, payer)
}

/** Deploys our router and its executors. They are not in the snapshot, so that existing chains get each new version. */
export async function deployExecutors(rpc: JsonRpc, payer: Payer): Promise<Record<string, Hex>> {
  const contracts = Object.entries({ swapRouter, swapExecutor, externalExecutor })
  const plans = contracts.map(([name, { address, data }]) => ({ name, address: address.toLowerCase() as Hex, data }))
  return deployMissing(rpc, plans, payer)
}

async function deployMissing(
  rpc: JsonRpc,
  plans: readonly (Deployment & { name: string })[],
  { bank, feeWei }: Payer,
): Promise<Record<string, Hex>> {
  const contracts = Object.fromEntries(plans.map(({ name, address }) => [name, address]))
  const codes = await rpc.batch(plans.map(({ address }) => ['eth_getCode', [address, 'latest']] as const))
  const missing = plans.filter((_plan, index) => codes[index] === '0x')
  if (missing.length === 0) return contracts
  const nonce = Number(await rpc.call('eth_getTransactionCount', [bank, 'latest']))
  const hashes = await rpc.batch(
    missing.map(({ data }, index) => {
      const fees = { gas: numberToHex(gas), maxFeePerGas: numberToHex(feeWei), maxPriorityFeePerGas: numberToHex(1n) }
      return [
        'eth_sendTransaction',
        [{ from: bank, to: deployer, data, nonce: numberToHex(nonce + index), ...fees }],
      ] as const
    }),
  )
  // About ten deployments fit into a block.
  for (let mined = 0; mined < missing.length; mined += 8) await rpc.call('evm_mine')
  const receipts = await rpc.batch(hashes.map((hash) => ['eth_getTransactionReceipt', [hash]] as const))
  const failed = missing.find((_plan, index) => (receipts[index] as { status?: string } | null)?.status !== '0x1')
  if (failed) throw new Error(`deploying ${failed.name} failed`)
  return contracts
}
