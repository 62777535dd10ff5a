import { readFileSync } from 'node:fs'

/** Bytecode, and with it every address, follows from these and the sources alone. `foundry.toml` says the same to forge. */
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
/** By itself: what is compiled together may change each other's bytecode. */
export const probeSources = Object.fromEntries([textOf('TransferProbe')])
export const externalSources = Object.fromEntries(['ISwapExecutor', 'ExternalExecutor', 'Transfers'].map(textOf))
