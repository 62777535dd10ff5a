import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@swapyard/lib/free-port.ts'

/** Our monero-wallet-rpc process and its login. */
export type WalletChild = Readonly<{
  url: string
  login: Readonly<{ user: string; password: string }>
  /** Why the process has ended; null while it runs. */
  exitReason(): string | null
  stop(): Promise<void>
}>

const PROGRAM = 'monero-wallet-rpc'
/** The Debian package that contains it. */
export const MONERO_PACKAGE = 'monero'
const STOP_MS = 10_000
const LOG_BYTES = 1_000_000
/** Kills the program when its standard input closes, which happens at any end of this process. */
const GUARD = 'exec 3<&0; "$0" "$@" 3<&- & pid=$!; (cat <&3 >/dev/null; kill $pid) & wait $pid'

/**
 * Starts the wallet program on loopback with a login, so that other users of this machine cannot spend. The login is in a
 * file with mode 0600, not on the command line.
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
  let reason: string | null = null
  child.stdin.on('error', () => undefined)
  child.once('error', (error) => {
    reason = error.message
  })
  child.once('exit', (code) => {
    child.stdin.destroy()
    reason =
      code === 127 ? `${PROGRAM} is not installed (Debian package ${MONERO_PACKAGE})` : `it exited with code ${code}`
  })
  child.unref()
  return { url: `http://127.0.0.1:${port}`, login, exitReason: () => reason, stop: () => stop(child, () => reason) }
}

async function stop(child: ChildProcess, exitReason: () => string | null): Promise<void> {
  if (exitReason() !== null) return
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // The program saves its wallet and exits.
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
    // Already ended.
  }
}
