import { readFileSync } from 'node:fs'

/**
 * The bytecode, and with it every contract address, depends only on these settings and the sources: without metadata, comments
 * do not change it. forge has its own settings (`foundry.toml`) and compiles only the tests.
 */
export const compilerSettings = {
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: true,
  evmVersion: 'cancun',
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
} as const

const folder = new URL('../src/', import.meta.url)
const names = ['ISwapExecutor', 'SwapExecutor', 'SwapRouter', 'Transfers', 'Venues']

const textOf = (name: string) =>
  [`src/${name}.sol`, { content: readFileSync(new URL(`${name}.sol`, folder), 'utf8') }] as const

export const sources = Object.fromEntries(names.map(textOf))
/** Compiled separately, because sources compiled together can change each other's bytecode. */
export const probeSources = Object.fromEntries([textOf('TransferProbe')])
export const externalSources = Object.fromEntries(['ISwapExecutor', 'ExternalExecutor', 'Transfers'].map(textOf))
