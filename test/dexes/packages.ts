import { createRequire, registerHooks } from 'node:module'

/*
 * The DEXes' own TypeScript packages, whose import as ES modules fails in Node: that of DLMM names a folder, and that of Cetus
 * extends a class that only version 1 of @mysten/sui has.
 */

const require = createRequire(import.meta.url)

export type BN = InstanceType<typeof import('turbos-clmm-sdk')['BN']>
type BNConstructor = new (decimals: string) => BN

/** A package and the big integers that it computes with. */
function load<T>(name: string): T & Readonly<{ toBN: (value: bigint | number) => BN }> {
  const exported = require(name) as T
  const BN = createRequire(require.resolve(name))('bn.js') as BNConstructor
  return Object.assign(exported as object, { toBN: (value: bigint | number) => new BN(String(value)) }) as never
}

export const toBigint = (value: BN): bigint => BigInt(value.toString())

type Dlmm = typeof import('@meteora-ag/dlmm')
/** The module itself is its default export. */
export const loadDlmm = () => load<Dlmm & Dlmm['default']>('@meteora-ag/dlmm')

export const loadDammV2 = () => load<typeof import('@meteora-ag/cp-amm-sdk')>('@meteora-ag/cp-amm-sdk')
export const loadPumpSwap = () => load<typeof import('@pump-fun/pump-swap-sdk')>('@pump-fun/pump-swap-sdk')
export const loadTurbos = () => load<typeof import('turbos-clmm-sdk')>('turbos-clmm-sdk')

/** With the version of @mysten/sui that test/package.json names; the package's own folder has another one. */
export function loadCetus() {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const isPeer = specifier.startsWith('@mysten/') && context.parentURL?.includes('/cetus-sui-clmm-sdk/')
      return next(isPeer === true ? require.resolve(specifier) : specifier, context)
    },
  })
  try {
    return load<typeof import('@cetusprotocol/cetus-sui-clmm-sdk')>('@cetusprotocol/cetus-sui-clmm-sdk')
  } finally {
    hooks.deregister()
  }
}
