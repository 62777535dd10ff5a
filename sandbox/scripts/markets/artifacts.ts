import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keccak256 } from 'viem'

type Hex = `0x${string}`
type Code = string | { object: string }
type Artifact = { bytecode?: Code; deployedBytecode?: Code; creationCode?: string }

const require = createRequire(import.meta.url)
const v3 = '@uniswap/v3-core/artifacts/contracts'
const v3Periphery = '@uniswap/v3-periphery/artifacts/contracts'
const routers = '@uniswap/swap-router-contracts/artifacts/contracts'
const v4Periphery = '@uniswap/v4-periphery/foundry-out'
const algebra = '@cryptoalgebra/core/artifacts/contracts'
const balancer = '@balancer-labs/v2-deployments/dist/tasks'

/** Paths of the published artifacts in their npm packages. */
const artifactPaths = {
  wrapped: '@uniswap/v2-periphery/build/WETH9.json',
  v2Factory: '@uniswap/v2-core/build/UniswapV2Factory.json',
  v2Pair: '@uniswap/v2-core/build/UniswapV2Pair.json',
  v2Router: '@uniswap/v2-periphery/build/UniswapV2Router02.json',
  v3Factory: `${v3}/UniswapV3Factory.sol/UniswapV3Factory.json`,
  v3Pool: `${v3}/UniswapV3Pool.sol/UniswapV3Pool.json`,
  v3Positions: `${v3Periphery}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json`,
  quoterV2: `${routers}/lens/QuoterV2.sol/QuoterV2.json`,
  swapRouter02: `${routers}/SwapRouter02.sol/SwapRouter02.json`,
  v4Manager: '@uniswap/v4-core/out/PoolManager.sol/PoolManager.json',
  v4Positions: `${v4Periphery}/PositionManager.sol/PositionManager.json`,
  v4StateView: `${v4Periphery}/StateView.sol/StateView.json`,
  v4Quoter: `${v4Periphery}/V4Quoter.sol/V4Quoter.json`,
  deployPermit2: `${v4Periphery}/DeployPermit2.sol/DeployPermit2.json`,
  algebraDeployer: `${algebra}/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json`,
  algebraFactory: `${algebra}/AlgebraFactory.sol/AlgebraFactory.json`,
  algebraPool: `${algebra}/AlgebraPool.sol/AlgebraPool.json`,
  balancerAuthorizer: `${balancer}/20210418-authorizer/artifact/Authorizer.json`,
  balancerVault: `${balancer}/20210418-vault/artifact/Vault.json`,
  balancerFactory: `${balancer}/20210418-weighted-pool/bytecode/WeightedPoolFactory.json`,
}
export type ArtifactName = keyof typeof artifactPaths

const readArtifact = (name: ArtifactName): Artifact => require(artifactPaths[name]) as Artifact

function toHex(code: Code | undefined, name: string): Hex {
  const hex = typeof code === 'object' ? code.object : code
  if (hex === undefined || hex === '') throw new Error(`${name} has no code`)
  return hex.startsWith('0x') ? (hex as Hex) : `0x${hex}`
}

export function readCreationCode(name: ArtifactName): Hex {
  const { bytecode, creationCode } = readArtifact(name)
  return toHex(bytecode ?? creationCode, name)
}

export const readRuntimeCode = (name: ArtifactName): Hex => toHex(readArtifact(name).deployedBytecode, name)

export const computeInitCodeHash = (name: ArtifactName): Hex => keccak256(readCreationCode(name))

/** Multicall3's creation code. viem has it for deployless calls but does not export it. */
export async function readMulticall3Code(): Promise<Hex> {
  const file = join(dirname(require.resolve('viem/package.json')), '_esm/constants/contracts.js')
  const { multicall3Bytecode } = (await import(pathToFileURL(file).href)) as { multicall3Bytecode: Hex }
  return multicall3Bytecode
}
