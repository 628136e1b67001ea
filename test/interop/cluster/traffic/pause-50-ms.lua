function delay() return 50 end
