import { Button, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { AdminActionName } from '@swapyard/schema'
import type { ReactNode } from 'react'
import { useAct } from '../api/acts.ts'
import { useMissingRole } from '../api/roles.ts'
import { ActDialog } from './act-dialog.tsx'

export type ActProps = Readonly<{
  act: AdminActionName
  /** Text of the button; the dialog has it as its title. */
  label: string
  /** Arguments that the page knows. The dialog shows them and asks for the others. */
  given?: Readonly<Record<string, string>>
  /** First values of arguments that the operator may change. */
  initial?: Readonly<Record<string, string>>
  /** What the operator must know before the act. */
  children?: ReactNode
}>

/** A button that opens the dialog of an act. Without the role it says so. */
export function ActButton(props: ActProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const act = useAct(props.act)
  const reason = useMissingRole(act?.role ?? 'viewer')
  return (
    <>
      <RoleButton label={props.label} reason={reason} onClick={open} isLoading={act === null} />
      {act && <ActDialog {...props} entry={act} isOpen={isOpen} onClose={close} />}
    </>
  )
}

type ButtonProps = Readonly<{ label: string; reason: string | null; onClick: () => void; isLoading?: boolean }>

/** Without the role it stays focusable, so that its reason can be read. */
export function RoleButton({ label, reason, onClick, isLoading = false }: ButtonProps) {
  if (reason === null)
    return (
      <Button variant="default" size="compact-sm" onClick={onClick} disabled={isLoading}>
        {label}
      </Button>
    )
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      <Button variant="default" size="compact-sm" data-disabled aria-disabled aria-description={reason}>
        {label}
      </Button>
    </Tooltip>
  )
}
