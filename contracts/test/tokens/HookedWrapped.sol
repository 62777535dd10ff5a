// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @dev A wrapped native coin that pays what it owes, and makes a call during each deposit and withdrawal.
contract HookedWrapped is TestToken {
    address private stepHook;
    bytes private stepHookData;
    uint256 public stepHookCalls;
    bool public stepHookFailed;

    function setStepHook(address hook_, bytes calldata hookData_) external {
        (stepHook, stepHookData, stepHookCalls, stepHookFailed) = (hook_, hookData_, 0, false);
    }

    function deposit() external payable {
        callStepHook();
        balanceOf[msg.sender] += msg.value;
    }

    function withdraw(uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        callStepHook();
        (bool success,) = msg.sender.call{value: amount}("");
        require(success, "native");
    }

    function callStepHook() private {
        if (stepHook == address(0)) return;
        (bool success,) = stepHook.call(stepHookData);
        stepHookCalls++;
        if (!success) stepHookFailed = true;
    }
}

/// @dev Makes a call for another contract.
contract Relay {
    function relay(address target, bytes calldata data) external {
        (bool success,) = target.call(data);
        require(success, "refused");
    }
}
