import { Command, CommanderError, Option } from 'commander'
import type { Role } from '../app/app.ts'
import { ConfigError, loadConfig, requireProduction } from '../config/load.ts'
import { AppError } from '../core/domain/errors.ts'
import { FolderLockedError } from '../lib/lock.ts'

/** What is under way when the program is asked to stop gets this long. */
const STOP_MS = 20_000

/** Runs one command line. The exit code is 0, 1 for a failure, 2 for wrong settings or words. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const program = new Command('swapyard').description('the exchange that anyone can run').exitOverride()
  program
    .command('start')
    .description('starts the service')
    .addOption(new Option('--role <role>', 'what this process does').choices(['api', 'worker', 'all']).default('all'))
    .addOption(new Option('--sandbox', 'where no config is given, the sandbox').default(false))
    .action(({ role, sandbox }: { role: Role; sandbox: boolean }) => run(role, sandbox))
  // A start loads what it runs itself, while others are started already.
  if (args[0] !== 'start') await addCommands(program)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    explain(error)
  }
}

async function addCommands(program: Command): Promise<void> {
  const [partners, operator, lab, contracts] = await Promise.all([
    import('./partner-commands.ts'),
    import('./operator-commands.ts'),
    import('./lab-commands.ts'),
    import('./contract-commands.ts'),
  ])
  partners.addPartnerCommands(program)
  operator.addOperatorCommands(program)
  lab.addLabCommands(program)
  contracts.addContractCommands(program)
}

async function run(role: Role, sandbox: boolean): Promise<void> {
  const config = loadConfig()
  if (!sandbox) requireProduction(config)
  // Only here: every other command starts in half the time without the service's libraries.
  const { start } = await import('../app/start.ts')
  const running = await start(config, role)
  let stopping = false
  const stop = (signal: string) => {
    if (stopping) return
    stopping = true
    console.log(`${signal}: finishing what is under way`)
    setTimeout(() => process.exit(1), STOP_MS + config.clocks.drainMs).unref()
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop).on('SIGINT', stop)
}

/** A sentence for people; a stack only for what is our own mistake. */
function explain(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
    return
  }
  const known =
    error instanceof ConfigError ||
    error instanceof FolderLockedError ||
    error instanceof AppError ||
    (error instanceof Error && error.constructor !== TypeError && error.name !== 'InvariantError')
  console.error(known && error instanceof Error ? error.message : error)
  process.exitCode = error instanceof ConfigError ? 2 : 1
  // Whatever a failed start left open must not keep the process alive.
  process.exit()
}
