import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Children } from '../children.ts'
import { waitUntilReady } from '../wait-until-ready.ts'
import { createMoneroRpc, type MoneroRpc } from './monero-rpc.ts'

export type RunningMoneroProgram = Readonly<{ rpc: MoneroRpc; stop(): Promise<void> }>
export type MoneroProgramOptions = Readonly<{
  program: string
  folder: string
  port: number
  children: Children
  onExit: (reason: string) => void
}>

const logBytesMax = 1_000_000
const pageBytes = 4096
/** Size of LMDB's map file on a new chain. */
const databaseBytes = 1 << 30
export const initialChainFile = new URL('../generated/monero-chain.zst', import.meta.url)

/** Starts monerod 0.18 on regtest: offline, on loopback, with difficulty 1, from the prepared chain. */
export async function startMonerod({
  restrictedPort,
  ...options
}: MoneroProgramOptions & { restrictedPort?: number }): Promise<RunningMoneroProgram> {
  unpackChain(options.folder)
  const args = [
    '--regtest',
    '--keep-fakechain',
    '--offline',
    '--fixed-difficulty=1',
    '--non-interactive',
    `--data-dir=${options.folder}`,
    '--db-sync-mode=fastest:async:250000000bytes',
    ...(restrictedPort === undefined
      ? []
      : ['--rpc-restricted-bind-ip=127.0.0.1', `--rpc-restricted-bind-port=${restrictedPort}`]),
    '--no-zmq',
    '--no-igd',
    '--check-updates=disabled',
  ]
  return startProgram(options, args, 'monerod.log', 'get_info')
}

/** Starts monero-wallet-rpc for the bank wallet. */
export async function startWalletRpc(options: MoneroProgramOptions, daemonPort: number): Promise<RunningMoneroProgram> {
  mkdirSync(options.folder, { recursive: true })
  const args = [
    `--daemon-address=127.0.0.1:${daemonPort}`,
    '--trusted-daemon',
    '--disable-rpc-login',
    '--daemon-ssl=disabled',
    `--wallet-dir=${options.folder}`,
  ]
  return startProgram(options, args, 'wallet.log', 'get_version')
}

/** Starts a program of Monero and waits until its RPC answers `probeMethod`. */
async function startProgram(
  { program, folder, port, children, onExit }: MoneroProgramOptions,
  args: readonly string[],
  logFile: string,
  probeMethod: string,
): Promise<RunningMoneroProgram> {
  const commonArgs = [
    '--rpc-bind-ip=127.0.0.1',
    `--rpc-bind-port=${port}`,
    '--rpc-ssl=disabled',
    '--log-level=0',
    `--log-file=${join(folder, logFile)}`,
    `--max-log-file-size=${logBytesMax}`,
    '--max-log-files=2',
  ]
  const child = children.start(program, [...args, ...commonArgs], '/dev/null')
  void child.exitReason.then(onExit)
  const rpc = createMoneroRpc(port)
  await waitUntilReady(() => rpc.call(probeMethod), child.exitReason)
  return { rpc, stop: () => child.stop(10_000) }
}

const databasePath = (folder: string) => join(folder, 'fake', 'lmdb', 'data.mdb')

/** Mining 300 blocks takes RandomX half a minute, so the repository holds their database without its empty pages. */
function unpackChain(folder: string): void {
  const file = databasePath(folder)
  if (existsSync(file) || !existsSync(initialChainFile)) return
  mkdirSync(join(folder, 'fake', 'lmdb'), { recursive: true })
  const pages = zstdDecompressSync(readFileSync(initialChainFile))
  const database = openSync(file, 'wx', 0o600)
  ftruncateSync(database, databaseBytes)
  for (let offset = 0; offset < pages.length; offset += 4 + pageBytes) {
    writeSync(database, pages, offset + 4, pageBytes, pages.readUInt32LE(offset) * pageBytes)
  }
  closeSync(database)
}

/** Packs the database of a stopped node for `unpackChain`. */
export function packChain(folder: string): Buffer {
  const bytes = readFileSync(databasePath(folder))
  const parts: Buffer[] = []
  for (let offset = 0; offset < bytes.length; offset += pageBytes) {
    const page = bytes.subarray(offset, offset + pageBytes)
    if (page.every((byte) => byte === 0)) continue
    const number = Buffer.alloc(4)
    number.writeUInt32LE(offset / pageBytes)
    parts.push(number, page)
  }
  return zstdCompressSync(Buffer.concat(parts))
}
