import { Button, Tooltip } from '@mantine/core'
import type { AdminActionName } from '@swapyard/schema'
import type { ReactNode } from 'react'
import { useAct } from '../api/acts.ts'
import { useMissingRole } from '../api/roles.ts'
import { useDialog } from '../app/dialog-host.tsx'
import { ActSteps } from './act-steps.tsx'

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
  const openDialog = useDialog()
  const entry = useAct(props.act)
  const reason = useMissingRole(entry?.role ?? 'viewer')
  const open = () => {
    if (entry !== null) openDialog(props.label, (close) => <ActSteps {...props} entry={entry} onClose={close} />)
  }
  return <RoleButton label={props.label} reason={reason} onClick={open} isLoading={entry === null} act={props.act} />
}

type ButtonProps = Readonly<{
  label: string
  reason: string | null
  onClick: () => void
  isLoading?: boolean
  /** By which tests find the button of an act. */
  act?: AdminActionName
}>

/** Without the role it stays focusable, so that its reason can be read. */
export function RoleButton({ label, reason, onClick, isLoading = false, act }: ButtonProps) {
  if (reason === null)
    return (
      <Button variant="default" size="compact-sm" onClick={onClick} disabled={isLoading} data-act={act}>
        {label}
      </Button>
    )
  return (
    <Tooltip label={reason} events={{ hover: true, focus: true, touch: true }}>
      <Button variant="default" size="compact-sm" data-disabled aria-disabled aria-description={reason} data-act={act}>
        {label}
      </Button>
    </Tooltip>
  )
}
