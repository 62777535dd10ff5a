import {
  concatHex,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  getCreate2Address,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  stringToHex,
  zeroAddress,
} from 'viem'
import { deployer } from '../../src/evm/deployments.ts'
import type { Address } from '../../src/market/snapshot.ts'
import { celoToken } from '../../src/market/tokens.ts'
import { compile } from '../compile.ts'
import { type ArtifactName, readCreationCode, readMulticall3Code, readRuntimeCode } from './artifacts.ts'
import type { FreshChain, TransactionRequest } from './fresh-chain.ts'

const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const salt = keccak256(stringToHex('swapyard sandbox market'))

export type DexContracts = Readonly<Record<DexContractName, Address>>
type DexContractName =
  | Exclude<ArtifactName, 'v2Pair' | 'v3Pool' | 'algebraPool' | 'deployPermit2'>
  | 'trader'
  | 'multicall3'
  | 'permit2'

const encode = (types: string, values: readonly unknown[]): Hex =>
  encodeAbiParameters(parseAbiParameters(types), values as never)

/**
 * Deploys the DEX contracts. Addresses depend on code and arguments, or on the first nonces of `owner`, so they are the
 * same on every network.
 */
export async function deployDexContracts(chain: FreshChain, owner: Address): Promise<DexContracts> {
  const sends: TransactionRequest[] = []
  let nonce = 0
  /** For contracts that depend on their sender or on the address of a later contract. */
  const deployFromOwner = (code: Hex, parameters: Hex = '0x'): Address => {
    sends.push({ from: owner, data: concatHex([code, parameters]) })
    return getContractAddress({ from: owner, nonce: BigInt(nonce++) })
  }
  const deployByCreate2 = (code: Hex, parameters: Hex = '0x'): Address => {
    const bytecode = concatHex([code, parameters])
    sends.push({ from: owner, to: deployer, data: concatHex([salt, bytecode]) })
    return getCreate2Address({ from: deployer, salt, bytecode })
  }
  const factory = getContractAddress({ from: owner, nonce: 1n })
  const algebraDeployer = deployFromOwner(
    readCreationCode('algebraDeployer'),
    encode('address, address', [factory, owner]),
  )
  const algebraFactory = deployFromOwner(readCreationCode('algebraFactory'), encode('address', [algebraDeployer]))
  const v3Factory = deployFromOwner(readCreationCode('v3Factory'))
  const enableFee = parseAbi(['function enableFeeAmount(uint24 fee, int24 tickSpacing)'])
  // A governance vote added the lowest fee after the release.
  sends.push({
    from: owner,
    to: v3Factory,
    data: encodeFunctionData({ abi: enableFee, functionName: 'enableFeeAmount', args: [100, 1] }),
  })
  const wrapped = deployByCreate2(readCreationCode('wrapped'))
  const v2Factory = deployByCreate2(readCreationCode('v2Factory'), encode('address', [owner]))
  const v3Positions = deployByCreate2(
    readCreationCode('v3Positions'),
    encode('address, address, address', [v3Factory, wrapped, zeroAddress]),
  )
  const v4Manager = deployByCreate2(readCreationCode('v4Manager'), encode('address', [owner]))
  const authorizer = deployByCreate2(readCreationCode('balancerAuthorizer'), encode('address', [owner]))
  const vault = deployByCreate2(
    readCreationCode('balancerVault'),
    encode('address, address, uint256, uint256', [authorizer, wrapped, 0n, 0n]),
  )
  const contracts = {
    wrapped,
    v2Factory,
    v2Router: deployByCreate2(readCreationCode('v2Router'), encode('address, address', [v2Factory, wrapped])),
    v3Factory,
    v3Positions,
    quoterV2: deployByCreate2(readCreationCode('quoterV2'), encode('address, address', [v3Factory, wrapped])),
    swapRouter02: deployByCreate2(
      readCreationCode('swapRouter02'),
      encode('address, address, address, address', [v2Factory, v3Factory, v3Positions, wrapped]),
    ),
    v4Manager,
    v4Positions: deployByCreate2(
      readCreationCode('v4Positions'),
      encode('address, address, uint256, address, address', [v4Manager, permit2, 300_000n, zeroAddress, wrapped]),
    ),
    v4StateView: deployByCreate2(readCreationCode('v4StateView'), encode('address', [v4Manager])),
    v4Quoter: deployByCreate2(readCreationCode('v4Quoter'), encode('address', [v4Manager])),
    algebraDeployer,
    algebraFactory,
    balancerAuthorizer: authorizer,
    balancerVault: vault,
    balancerFactory: deployByCreate2(readCreationCode('balancerFactory'), encode('address', [vault])),
    trader: deployByCreate2(
      compile(['PoolTrader']).PoolTrader.creation,
      encode('address, address', [owner, v4Manager]),
    ),
    multicall3: multicall3 as Address,
    permit2: permit2 as Address,
  }
  await chain.runTransactions(sends)
  await placeWellKnownContracts(chain)
  await requireCode(chain, contracts)
  return contracts
}

async function requireCode({ rpc }: FreshChain, contracts: DexContracts): Promise<void> {
  const named = Object.entries(contracts)
  const codes = await rpc.batch(named.map(([, address]) => ['eth_getCode', [address, 'latest']] as const))
  const empty = named.find((_one, index) => codes[index] === '0x')
  if (empty) throw new Error(`${empty[0]} has no code at ${empty[1]}`)
}

/** Sets the code of Multicall3 and Permit2 at their well-known addresses, which we cannot deploy to. */
async function placeWellKnownContracts({ rpc, url }: FreshChain): Promise<void> {
  const runtime = await rpc.call('eth_call', [{ data: await readMulticall3Code() }, 'latest'])
  await rpc.call('anvil_setCode', [multicall3, runtime])
  await rpc.call('anvil_setCode', [permit2, await extractPermit2Code(url)])
}

/**
 * Extracts Permit2's code from the package's Foundry script, which passes the code to the cheatcode address. A state
 * override places a contract there that reverts with its calldata, so the script's revert data holds the code.
 */
export async function extractPermit2Code(url: string): Promise<Hex> {
  const cheatcodeAddress = '0x7109709ECfa91a80626fF3989D68f67F5b1DD12D'
  const script = '0x00000000000000000000000000000000000000ff'
  const abi = parseAbi(['function deployPermit2() returns (address)', 'function etch(address at, bytes code)'])
  const stateOverrides = {
    [cheatcodeAddress]: { code: '0x365f5f37365ffd' },
    [script]: { code: readRuntimeCode('deployPermit2') },
  }
  const call = { to: script, data: encodeFunctionData({ abi, functionName: 'deployPermit2' }) }
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [call, 'latest', stateOverrides] }),
  })
  const revertData = ((await answer.json()) as { error?: { data?: Hex } }).error?.data
  if (!revertData) throw new Error('the Permit2 deployment script did not revert with the code')
  const { args } = decodeFunctionData({ abi, data: revertData })
  return (args as readonly [Hex, Hex])[1]
}

/** Places the CELO token at the only address that may move native coins. */
export async function placeCeloToken({ rpc }: FreshChain): Promise<void> {
  await rpc.call('anvil_setCode', [celoToken, compile(['CeloToken']).CeloToken.runtime])
}

/** Sets WETH9's name and symbol in storage. A short string is left-aligned, with twice its length in the last byte. */
export async function setWrappedName(chain: FreshChain, wrapped: Address, name: string, symbol: string): Promise<void> {
  const encodeShortString = (text: string): Hex => {
    if (text.length > 31) throw new Error(`"${text}" has ${text.length} characters; a short string has at most 31`)
    return `${stringToHex(text, { size: 31 })}${(2 * text.length).toString(16).padStart(2, '0')}`
  }
  const slot = (index: number) => `0x${index.toString(16).padStart(64, '0')}`
  await chain.rpc.call('anvil_setStorageAt', [wrapped, slot(0), encodeShortString(name)])
  await chain.rpc.call('anvil_setStorageAt', [wrapped, slot(1), encodeShortString(symbol)])
}
