import type { Command } from 'commander'
import { grantRows } from '../adapters/postgres/core/grant-rows.ts'
import { withDatabase } from './database.ts'
import { print } from './print.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('brings the schema of the database up to date; the login of DATABASE_URL owns it')
    .option('--grant <logins...>', 'logins of the processes, which may then read and write rows and change no table')
    .action(({ grant = [] }: { grant?: string[] }) =>
      // Opening the database applies the migrations.
      withDatabase(
        async (database) => {
          for (const login of grant) await grantRows(database, login)
          const [last] = await database.query<{ name: string }>(
            'select name from migrations order by name desc limit 1',
          )
          print({ migration: last?.name ?? null, granted: grant })
        },
        { inAnyEnvironment: true },
      ),
    )
}
