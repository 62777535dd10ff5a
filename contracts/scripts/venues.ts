import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Creation code of deployed protocols, taken from their npm packages. forge's tests read it from `.swapyard/venues.json`. */

const require = createRequire(import.meta.url)
const uniswapV3 = '@uniswap/v3-core/artifacts/contracts'
const algebra = '@cryptoalgebra/core/artifacts/contracts'
const balancer = '@balancer-labs/v2-deployments/dist/tasks'

const published = {
  wrapped: '@uniswap/v2-periphery/build/WETH9.json',
  uniswapV2Pair: '@uniswap/v2-core/build/UniswapV2Pair.json',
  uniswapV2Factory: '@uniswap/v2-core/build/UniswapV2Factory.json',
  uniswapV3Factory: `${uniswapV3}/UniswapV3Factory.sol/UniswapV3Factory.json`,
  uniswapV4Manager: '@uniswap/v4-core/out/PoolManager.sol/PoolManager.json',
  uniswapV4Liquidity: '@uniswap/v4-core/out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json',
  algebraDeployer: `${algebra}/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json`,
  algebraFactory: `${algebra}/AlgebraFactory.sol/AlgebraFactory.json`,
  balancerAuthorizer: `${balancer}/20210418-authorizer/artifact/Authorizer.json`,
  balancerVault: `${balancer}/20210418-vault/artifact/Vault.json`,
  balancerWeightedFactory: `${balancer}/20210418-weighted-pool/bytecode/WeightedPoolFactory.json`,
  uniswapV3Positions:
    '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
  token: '@uniswap/v2-core/build/ERC20.json',
  swapRouter02: '@uniswap/swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json',
  universalRouter: '@uniswap/universal-router/artifacts/contracts/UniversalRouter.sol/UniversalRouter.json',
}

type Artifact = { bytecode?: string | { object: string }; creationCode?: string }

function creationCode(path: string): string {
  const { bytecode, creationCode } = require(path) as Artifact
  const code = (typeof bytecode === 'object' ? bytecode.object : bytecode) ?? creationCode
  if (code === undefined) throw new Error(`${path} has no bytecode`)
  return code.startsWith('0x') ? code : `0x${code}`
}

export type Venue = keyof typeof published

export const venueCode = (venue: Venue): `0x${string}` => creationCode(published[venue]) as `0x${string}`

export function writeVenueCode(): void {
  const folder = new URL('../.swapyard/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const codes = Object.fromEntries(Object.entries(published).map(([name, path]) => [name, creationCode(path)]))
  writeFileSync(new URL('venues.json', folder), JSON.stringify(codes))
}

if (import.meta.main) writeVenueCode()
