// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ExternalExecutor} from "../../src/ExternalExecutor.sol";
import {SwapRouter} from "../../src/SwapRouter.sol";
import {IERC20} from "../../src/Transfers.sol";

/// @dev A router that the attacker controls, called by ExternalExecutor.
contract MaliciousRouter {
    uint256 public attempts;
    uint256 public succeeded;

    /// @dev Takes `amountIn` of the input and pays `amountOut`.
    function take(IERC20 source, uint256 amountIn, IERC20 target, uint256 amountOut) external {
        source.transferFrom(msg.sender, address(this), amountIn);
        target.transfer(msg.sender, amountOut);
    }

    /// @dev Takes nothing and pays from its own balance, so the whole allowance stays unused.
    function pay(IERC20 target, uint256 amountOut) external {
        target.transfer(msg.sender, amountOut);
    }

    /// @dev Makes the given calls during the swap, ignores failures, then pays.
    function callBack(address[] calldata targets, bytes[] calldata calls, IERC20 target, uint256 amountOut) external {
        for (uint256 i = 0; i < targets.length; i++) {
            (bool success,) = targets[i].call(calls[i]);
            attempts++;
            if (success) succeeded++;
        }
        target.transfer(msg.sender, amountOut);
    }

    error CustomReason(uint256 reason);

    function refuse(uint256 reason) external pure {
        revert CustomReason(reason);
    }

    receive() external payable {}
}

/// @dev Answers `balanceOf`, so ExternalExecutor must treat it as a token.
contract TokenLookalike {
    bool public touched;

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    fallback() external {
        touched = true;
    }
}

/// @dev Records in storage that it was called.
contract CallRecorder {
    fallback() external {
        assembly {
            sstore(0, 1)
        }
    }
}
