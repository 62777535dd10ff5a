// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ExternalExecutor} from "../../src/ExternalExecutor.sol";
import {SwapRouter} from "../../src/SwapRouter.sol";
import {IERC20} from "../../src/Transfers.sol";

/// @dev A router of the attacker's, called by ExternalExecutor.
contract MaliciousRouter {
    uint256 public attempts;
    uint256 public succeeded;

    /// @dev Takes some of the input, and pays so much.
    function take(IERC20 source, uint256 amountIn, IERC20 target, uint256 amountOut) external {
        source.transferFrom(msg.sender, address(this), amountIn);
        target.transfer(msg.sender, amountOut);
    }

    /// @dev Takes nothing and pays from elsewhere, so that the whole allowance is left.
    function pay(IERC20 target, uint256 amountOut) external {
        target.transfer(msg.sender, amountOut);
    }

    /// @dev Makes these calls in the middle of a swap, whatever comes of them; then pays.
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

/// @dev Has what a token has that is known by its balances.
contract TokenLookalike {
    bool public touched;

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    fallback() external {
        touched = true;
    }
}

/// @dev Anything with code that notes that it was called.
contract CallRecorder {
    fallback() external {
        assembly {
            sstore(0, 1)
        }
    }
}
