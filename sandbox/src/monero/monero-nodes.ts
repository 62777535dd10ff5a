import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Children } from '../children.ts'
import { waitUntilReady } from '../wait-until-ready.ts'
import { createMoneroRpc, type MoneroRpc } from './monero-rpc.ts'

export type RunningMoneroProgram = Readonly<{ port: number; rpc: MoneroRpc; stop(): Promise<void> }>
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
  program,
  folder,
  port,
  restrictedPort,
  children,
  onExit,
}: MoneroProgramOptions & { restrictedPort?: number }): Promise<RunningMoneroProgram> {
  unpackChain(folder)
  const child = children.start(
    program,
    [
      '--regtest',
      '--keep-fakechain',
      '--offline',
      '--fixed-difficulty=1',
      '--non-interactive',
      `--data-dir=${folder}`,
      '--db-sync-mode=fastest:async:250000000bytes',
      '--rpc-bind-ip=127.0.0.1',
      `--rpc-bind-port=${port}`,
      ...(restrictedPort === undefined
        ? []
        : ['--rpc-restricted-bind-ip=127.0.0.1', `--rpc-restricted-bind-port=${restrictedPort}`]),
      '--rpc-ssl=disabled',
      '--no-zmq',
      '--no-igd',
      '--check-updates=disabled',
      '--log-level=0',
      `--log-file=${join(folder, 'monerod.log')}`,
      `--max-log-file-size=${logBytesMax}`,
      '--max-log-files=2',
    ],
    '/dev/null',
  )
  const rpc = createMoneroRpc(port)
  await waitUntilRpcAnswers(child.exitReason, onExit, () => rpc.call('get_info'))
  return { port, rpc, stop: () => child.stop(10_000) }
}

/** Starts monero-wallet-rpc for the bank wallet. */
export async function startWalletRpc(
  { program, folder, port, children, onExit }: MoneroProgramOptions,
  daemonPort: number,
): Promise<RunningMoneroProgram> {
  mkdirSync(folder, { recursive: true })
  const child = children.start(
    program,
    [
      `--daemon-address=127.0.0.1:${daemonPort}`,
      '--trusted-daemon',
      '--rpc-bind-ip=127.0.0.1',
      `--rpc-bind-port=${port}`,
      '--disable-rpc-login',
      '--rpc-ssl=disabled',
      '--daemon-ssl=disabled',
      `--wallet-dir=${folder}`,
      '--log-level=0',
      `--log-file=${join(folder, 'wallet.log')}`,
      `--max-log-file-size=${logBytesMax}`,
      '--max-log-files=2',
    ],
    '/dev/null',
  )
  const rpc = createMoneroRpc(port)
  await waitUntilRpcAnswers(child.exitReason, onExit, () => rpc.call('get_version'))
  return { port, rpc, stop: () => child.stop(10_000) }
}

async function waitUntilRpcAnswers(
  exit: Promise<string>,
  onExit: (reason: string) => void,
  probe: () => Promise<unknown>,
): Promise<void> {
  let exitReason: string | null = null
  void exit.then((reason) => {
    exitReason = reason
    onExit(reason)
  })
  await waitUntilReady(probe, () => exitReason)
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
