import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'

/** A running monero-wallet-rpc of ours, with the login that it was given. */
export type WalletChild = Readonly<{
  url: string
  login: Readonly<{ user: string; password: string }>
  /** Why it is not running, once it is not. */
  exitReason(): string | null
  stop(): Promise<void>
}>

const PROGRAM = 'monero-wallet-rpc'
/** Debian's package that brings it. */
export const MONERO_PACKAGE = 'monero'
const STOP_MS = 10_000
const LOG_BYTES = 1_000_000
/** Ends the program when its input ends: with this process, however that dies. */
const GUARD = 'exec 3<&0; "$0" "$@" 3<&- & pid=$!; (cat <&3 >/dev/null; kill $pid) & wait $pid'

/**
 * On loopback, behind a login: whoever else has an account on this machine must not spend. The login stands in a file that
 * only we read, never on the command line.
 */
export async function startWalletChild(folder: string, daemonUrl: string): Promise<WalletChild> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const login = { user: 'swapyard', password: randomBytes(24).toString('hex') }
  const daemon = new URL(daemonUrl)
  const settings = {
    'daemon-address': daemon.host,
    'daemon-ssl': daemon.protocol === 'https:' ? 'enabled' : 'disabled',
    'trusted-daemon': '1',
    'rpc-bind-ip': '127.0.0.1',
    'rpc-bind-port': String(port),
    'rpc-login': `${login.user}:${login.password}`,
    'rpc-ssl': 'disabled',
    'wallet-dir': folder,
    'log-level': '0',
    'log-file': join(folder, 'wallet.log'),
    'max-log-file-size': String(LOG_BYTES),
    'max-log-files': '2',
  }
  const file = join(folder, 'wallet-rpc.conf')
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  const child = spawn('sh', ['-c', GUARD, PROGRAM, `--config-file=${file}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: folder,
  })
  let why: string | null = null
  child.stdin.on('error', () => undefined)
  child.once('error', (error) => {
    why = error.message
  })
  child.once('exit', (code) => {
    child.stdin.destroy()
    why = code === 127 ? `${PROGRAM} is not installed (Debian's package ${MONERO_PACKAGE})` : `it ended with ${code}`
  })
  child.unref()
  return { url: `http://127.0.0.1:${port}`, login, ended: () => why, stop: () => stop(child, () => why) }
}

async function stop(child: ChildProcess, ended: () => string | null): Promise<void> {
  if (ended() !== null) return
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // It writes its wallet, and ends.
  child.stdin?.end()
  const timer = setTimeout(() => killGroup(child), STOP_MS)
  await exit
  clearTimeout(timer)
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
